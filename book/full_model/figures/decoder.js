// A decoder block of the trained translator, taken apart: the place that is asked goes up through its
// parts, reading the words written so far on the left and the source on the right.

import { ribbon } from "../../page/kit/cells.js";
import { choice, connect, remember, tabs } from "../../page/kit/controls.js";
import { drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { html } from "../../page/kit/html.js";
import { tiedLogits } from "../../page/kit/networks.js";
import { argmax, clamp, descending, meanOf, softmax } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";
import { arrow, tokenRow } from "../../page/kit/parts.js";
import { wordsOf } from "../../page/kit/sentences.js";
import { group, label, part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";
import { embedTokens, greedyTranslation, withPositions } from "../../page/kit/transformer.js";

const [ENTER, SELF, ADDED, CROSS, AGAIN, FFN, OUT, SAY] = Array(8).keys();
const NAMES = ["enter", "self", "norm", "cross", "norm", "FFN", "norm", "say"];
const ROW = 26,
  GAP = 17,
  LINE = 18,
  BEST = 5; // words that are shown at the end
const HIGH = [38, 38, 24, 38, 24, 38, 24, BEST * LINE]; // the parts, from the bottom up
const NORMS = { [ADDED]: ENTER, [AGAIN]: ADDED, [OUT]: AGAIN }; // what a sum adds to: an earlier part

/** What a block does at every place, and what the output matrix reads from its result. */
function passage(data, translation, layer) {
  const { decoded, read } = translation;
  const block = decoded[layer];
  const entering = layer
    ? decoded[layer - 1].output
    : withPositions(embedTokens(data.weights, read));
  const { attended, middle, crossed, upper, fed, output } = block;
  const table = data.weights["token_embedding.weight"];
  return {
    ...translation,
    words: read.map((id) => data.words[id]),
    vectors: [entering, attended, middle, crossed, upper, fed, output, output],
    self: meanOf(block.weights),
    cross: meanOf(block.crossWeights),
    said: output.map((row) => softmax(tiedLogits(table, row))),
  };
}

/** What stands in the parts: a name, and shapes. */
function namesOf({ words, source, vectors }, data, layer, narrow) {
  const [T, S, d] = [words.length, source.length, vectors[ENTER][0].length];
  const inner = data.weights[`decoder_blocks.${layer}.feed_forward.up_proj.bias`].length;
  const norm = [`add & norm: ${T} × ${d}`];
  const [mask, shares] = narrow ? ["", ""] : ["masked ", "weights "];
  return [
    [Number(layer) ? `from block ${layer}` : "words + positions", `T × d = ${T} × ${d}`],
    [`${mask}self-attention`, `${shares}T × T = ${T} × ${T}`],
    norm,
    ["cross-attention", `${shares}T × S = ${T} × ${S}`],
    norm,
    ["feed-forward", `${d} → ${inner} → ${d}`],
    norm,
  ];
}

function build(root, width, value, data, pass, state) {
  const now = pass(value);
  const { words, source, vectors } = now,
    count = vectors[ENTER][0].length;
  const narrow = width < 520,
    box = narrow ? 134 : 210,
    half = box / 2,
    middle = width / 2;
  const letters = Math.max(...[...words, ...source].map((word) => word.length));
  const column = Math.min(letters * (narrow ? 7.6 : 8.4) + 10, (width - box) / 2 - 30);
  const tower = HIGH.reduce((sum, high) => sum + high, 7 * GAP + 8),
    height = Math.max(tower, Math.max(words.length, source.length) * ROW + 26);
  const tops = HIGH.map((_, i) => {
    const below = HIGH.slice(0, i + 1).reduce((sum, high) => sum + high, 0);
    return height - 4 - below - i * GAP;
  });
  arrow(root, "stream", {
    x1: middle,
    y1: height - 4,
    x2: middle,
    y2: tops[OUT] - 8,
    w: 8,
    o: 0.25,
  });
  for (const [sum, from] of Object.entries(NORMS)) {
    // the stream's way past the part that reads it, to the sum
    const y1 = tops[from] - GAP / 2,
      y2 = tops[sum] + HIGH[sum] / 2,
      out = middle + half + 12;
    const way = `M${middle} ${y1}H${out - 8}q8 0 8 -8V${y2 + 8}q0 -8 -8 -8H${middle + half}`;
    root.append(
      drawing(
        "g",
        { class: "cl-stream" },
        drawing("path", { class: "cl-shaft", d: way, "stroke-width": 2.5, opacity: 0.5 }),
      ),
    );
  }
  const boxes = namesOf(now, data, value.block, narrow).map((lines, i) => {
    const name = lines.map((text, j) => {
      const y = HIGH[i] / 2 + 4.5 + (j - (lines.length - 1) / 2) * 15;
      return label(text, 0, y, lines.length > 1 && !j ? "cl-strong" : "cl-quiet");
    });
    const size = { x: -half, width: box, height: HIGH[i], rx: 6 };
    const paper = drawing("rect", { class: "cl-paper", ...size });
    const edge = drawing("rect", { class: "cl-edge", ...size });
    const node = drawing("g", { class: "cl-stream" }, paper, edge, name);
    return { ...part(root, node, { x: middle, y: tops[i] }), edge };
  });

  // who is read: a column of words beside the part that reads them
  const reader = (step, all, side, pick) => {
    const centre = tops[step] + HIGH[step] / 2,
      x = side < 0 ? column / 2 : width - column / 2;
    const top = clamp(centre - (all.length * ROW) / 2, 22, height - all.length * ROW);
    const place = (i) => top + (i + 0.5) * ROW;
    const tokens = tokenRow(root, all, Array(all.length).fill(x), {
      height: 24,
      wide: () => column,
      pick,
      name: "position of",
    });
    const inner = side < 0 ? column : width - column,
      end = middle + side * half;
    const numbers = all.map((_, i) => {
      const name = step === SELF ? "self" : "cross";
      const text = fill(label("", 0, 4.5, "cl-own"), { "data-name": name }, []);
      const at = { x: inner - side * (narrow ? 16 : 20), y: place(i), o: 0 };
      return { text, ...group(root, at, drawing("g", { class: "cl-attention" }, text)) };
    });
    const arrows = all.map((_, i) => {
      const [x1, y1] = [inner - side * (narrow ? 31 : 38), place(i)];
      return arrow(root, "attention", { x1, y1, x2: end, y2: centre, w: 0, o: 0 });
    });
    tokens.forEach((token, i) => token.to({ y: place(i) - 12 }, { jump: true }));
    root.append(
      side < 0
        ? label("written so far", 0, top - 8, "cl-start cl-quiet")
        : label("the source", width, top - 8, "cl-end cl-quiet"),
    );
    return { tokens, numbers, arrows };
  };
  const own = reader(SELF, words, -1, (i) => state.set({ place: i + 1 }));
  const other = reader(CROSS, source, 1);

  const best = Array.from({ length: BEST }, (_, i) => {
    const word = label("", -half - 8, 13, "cl-end"),
      number = fill(label("", half + 8, 13, "cl-start"), { "data-name": "next" }, []),
      bar = drawing("rect", { class: "cl-tip", x: -half, y: 3, height: 11, rx: 2 });
    const y = tops[SAY] + i * LINE;
    const node = drawing("g", { class: "cl-stream" }, bar, word, number);
    return { word, number, bar, ...part(root, node, { x: middle, y, o: 0 }) };
  });
  const open = label(
    `T × V = ${words.length} × ${data.words.length} logits`,
    middle,
    tops[SAY] + HIGH[SAY] / 2,
    "cl-quiet",
  );
  const unsaid = group(root, {}, open);
  const cell = (box - 4) / count,
    left = middle - (cell * count) / 2;
  const vector = ribbon(root, count, "stream", {
    cell,
    name: "vector",
    first: { x: left, y: tops[ENTER] },
  });

  function look({ tokens, numbers, arrows }, row, on, move) {
    row.forEach((weight, j) => {
      write(numbers[j].text, weight);
      const seen = on && weight > 0;
      numbers[j].to({ o: seen ? 1 : 0 }, move);
      arrows[j].to({ w: 0.5 + 11 * weight, o: seen && weight >= 0.02 ? 1 : 0 }, move);
      tokens[j].to({ o: on && weight < 0.02 ? 0.5 : 1 }, move);
    });
  }
  function pose(value, move) {
    const { step } = value,
      { self, cross, said, vectors } = pass(value),
      at = value.place - 1;
    vector.set(vectors[step][at], (x) => Math.abs(x) / 2.5);
    vector.to({ x: left, y: tops[Math.min(step, OUT)] - 14 }, move);
    boxes.forEach(({ edge }, i) => {
      edge.style.strokeWidth = i === step ? 3 : "";
    });
    look(own, self[at], step === SELF, move);
    look(other, cross[at], step === CROSS, move);
    own.tokens.press(at);
    unsaid.to({ o: step === SAY ? 0 : 1 }, move);
    const ids = descending(said[at]);
    best.forEach(({ word, number, bar, ...line }, i) => {
      word.textContent = data.words[ids[i]];
      write(number, said[at][ids[i]]);
      number.dataset.id = ids[i];
      bar.setAttribute("width", Math.max(1, box * said[at][ids[i]]));
      line.to({ o: step === SAY ? 1 : 0 }, move);
    });
  }
  return { height, pose };
}

/** What happens at each step, in words. */
function captions(data, pass) {
  const most = (row, names) => {
    const [first, second] = descending(row);
    const then = row.length > 1 && row[second] >= 0.005;
    const more = then ? `, then to “${names[second]}” (${format(row[second])})` : "";
    return ` goes to “${names[first]}” (${format(row[first])})${more}`;
  };
  const heads = `mean of the ${data.block.numHeads} heads`;
  const added = "What was found is added to the vector, and the sum normalised.";
  return [
    ({ now, place, block, word, count }) =>
      block === "0"
        ? `Position ${place} has read “${word}”: d = ${count} numbers, the model’s width. It is asked for the word that comes next.`
        : `Position ${place}, which has read “${word}”, comes out of block ${Number(block)} with ${count} numbers. T = ${now.words.length} positions do so at once.`,
    ({ now, place, word }) =>
      place === 1
        ? `Masked self-attention: nothing is written yet, so “${word}” can look only at itself.`
        : html`Masked self-attention, which reads what is written so far: most <b class="cl-attention">weight</b>${most(now.self[place - 1], now.words)}; ${heads}.`,
    () => `${added} It still has the same width.`,
    ({ now, place }) =>
      html`Cross-attention, which reads the source: most <b class="cl-attention">weight</b>${most(now.cross[place - 1], now.source)}; ${heads}.`,
    () => `${added} The position now holds something of both sentences.`,
    ({ place }) =>
      `The feed-forward network reads no other position: it works on position ${place} alone.`,
    () => `${added} This is what leaves the block.`,
    ({ now, place, block }) => {
      const row = now.said[place - 1],
        best = argmax(row),
        guess = `“${data.words[best]}” with ${format(row[best])}`;
      if (Number(block) === data.num_layers - 1)
        return `Compared with all V = ${row.length} rows of the word table, the vector gives ${guess}. That is what the model writes.`;
      return `This vector goes to the next block. If the word table read it already, its best guess would be ${guess}; the model will write “${now.target[place - 1]}”.`;
    },
  ].map((caption) => (value) => {
    const now = pass(value);
    const count = now.vectors[ENTER][0].length;
    return caption({ ...value, now, count, word: now.words[value.place - 1] });
  });
}

function render({ model, el }) {
  const data = withWeights(model.get("data"));
  const state = connect(model);
  const translated = remember((sentence) => greedyTranslation(data, wordsOf(sentence)));
  const passed = remember(({ sentence, block }) =>
    passage(data, translated(sentence), Number(block)),
  );
  const pass = ({ sentence, block }) => passed({ sentence, block });

  const picture = stage(
    state,
    "A decoder block and what it reads",
    (root, width, value) => build(root, width, value, data, pass, state),
    { key: ({ sentence, block }) => sentence + block },
  );
  const texts = captions(data, pass);
  const steps = NAMES.map((name, step) => ({ name, caption: texts[step] }));
  const blocks = Array.from({ length: data.num_layers }, (_, i) => String(i));
  const others = blocks.flatMap((block) =>
    pass({ ...state.value, block }).words.map((_, i) => ({ block, place: i + 1 })),
  );
  const sentences = data.examples.filter((text) => wordsOf(text).length <= data.trained_length);
  const last = blocks.at(-1);
  const surest = ({ cross }, place) => Math.max(...cross[place - 1]);
  const puzzles = goals(state, [
    {
      text: `In block ${data.num_layers}, find the position whose cross-attention is the least sure.`,
      reached: (value) => {
        const now = pass(value);
        const least = Math.min(...now.words.map((_, i) => surest(now, i + 1)));
        return value.block === last && value.step === CROSS && surest(now, value.place) === least;
      },
    },
    {
      text: "Find a position whose self-attention gives more than half to an earlier word, not to [BOS].",
      reached: (value) =>
        value.step === SELF &&
        pass(value)
          .self[value.place - 1].slice(1, value.place - 1)
          .some((weight) => weight > 0.5),
    },
  ]);
  frame(
    el,
    "A decoder block, taken apart",
    element(
      "div",
      { class: "cl-controls" },
      choice(state, "sentence", "the source", sentences, {
        change: (sentence) => ({ sentence, place: 1 }),
      }),
      tabs(
        state,
        "block",
        "block",
        blocks.map((block, i) => [block, `block ${i + 1}`]),
      ),
    ),
    element(
      "div",
      { class: "cl-side" },
      element("div", { style: "flex: 1 1 24rem; min-width: 0" }, picture),
      element(
        "div",
        { style: "flex: 1 1 13rem; min-width: 0" },
        stepper(state, { steps, others, beside: true }),
        puzzles,
      ),
    ),
  );
  return state.close;
}

export default { render };
