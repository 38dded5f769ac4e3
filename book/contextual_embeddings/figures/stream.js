// A word's way up through a trained encoder: what each sub-layer adds, and what the sum reads as.

import { choice, connect, remember, toggle } from "../../page/kit/controls.js";
import {
  announce,
  drawing,
  element,
  format,
  frame,
  longestOf,
  paint,
  write,
} from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { encoderBlocks, layerNorm, tiedLogits } from "../../page/kit/networks.js";
import { add, descending, dot, norm, softmax } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";
import { textInput } from "../../page/kit/sentences.js";
import { matrixTable } from "../../page/kit/tables.js";

const split = (sentence) => sentence.trim().split(/\s+/).filter(Boolean);

/** The stream at one word: [{ name, added, stream, turn, words }], the embedding first. `added` and
    `stream` are lengths, `turn` is the cosine with the embedding, `words` the three likeliest. */
function climb({ words, weights, depth, num_heads: numHeads, mask }, { sentence, word, hidden }) {
  const ids = split(sentence).map((text) => words.indexOf(text));
  if (hidden) ids[word] = mask;
  const table = weights["token_embedding.weight"];
  const rows = add(
    ids.map((id) => table[id]),
    weights["positions.weight"],
  );
  const start = rows[word];
  const stage = (name, added, x) => {
    const read = layerNorm(weights, "final_norm", [x])[0];
    const chances = softmax(tiedLogits(table, read));
    return {
      name,
      added: norm(added),
      stream: norm(x),
      turn: dot(x, start) / (norm(x) * norm(start)),
      words: descending(chances)
        .slice(0, 3)
        .map((i) => [words[i], chances[i]]),
    };
  };
  const options = { numHeads, normFirst: true, activation: "gelu" };
  const blocks = encoderBlocks(weights, "blocks", depth, rows, options);
  return [
    stage("embedding", start, start),
    ...blocks.flatMap(({ attended, middle, fed, output }, i) => [
      stage(`attention ${i + 1}`, attended[word], middle[word]),
      stage(`FFN ${i + 1}`, fed[word], output[word]),
    ]),
  ];
}

/** The stream from bottom to top, as wide as it is long; what is added flows in from the left. */
function draw(svg, width, stages, token) {
  const step = 40,
    at = Math.min(0.44 * width, 190),
    height = stages.length * step + 16;
  const scale = 30 / Math.max(...stages.map(({ stream }) => stream));
  const thick = (size) => Math.max(size * scale, 0.75);
  const parts = stages.flatMap(({ name, added, stream, words }, i) => {
    const y = height - i * step - 30;
    const text = (x, dy, content, attributes) =>
      drawing("text", { x, y: y + dy, ...attributes }, content);
    const number = (label, value, digits) => {
      const node = write(drawing("tspan"), value, digits);
      node.dataset.name = label;
      return node;
    };
    const bend = y + 14;
    return [
      drawing("path", {
        d: `M${at} ${y + 6}V${y - step + 6}`,
        stroke: "var(--stream)",
        "stroke-width": thick(stream),
        "stroke-opacity": 0.55,
        fill: "none",
      }),
      i > 0 &&
        drawing("path", {
          d: `M${at - 62} ${bend}C${at - 30} ${bend} ${at - 34} ${y - 6} ${at} ${y - 6}`,
          stroke: "var(--second)",
          "stroke-width": thick(added),
          "stroke-opacity": 0.75,
          fill: "none",
        }),
      text(0, 2, i === 0 ? `“${token}”` : name),
      text(0, 18, [i === 0 ? "starts at " : "adds ", number("added", added, 2)], {
        class: "cl-quiet",
      }),
      text(at + 26, -10, [words[0][0], " ", number("chance", words[0][1], 2)]),
      text(
        at + 26,
        6,
        words
          .slice(1)
          .map(([word]) => word)
          .join(", "),
        { class: "cl-quiet" },
      ),
    ].filter(Boolean);
  });
  paint(svg, width, height, `The stream at “${token}”, from its embedding up`, parts);
}

function render({ model, el }) {
  const data = withWeights(model.get("data"));
  const state = connect(model);
  const most = data.weights["positions.weight"].length;
  const known = new Set(data.words);
  const result = remember((value) => climb(data, value));

  const examples = choice(
    state,
    "example",
    "example",
    data.examples.map(({ sentence }, i) => [i, sentence]),
    { change: (i) => ({ example: i, ...data.examples[i] }) },
  );
  examples.querySelector("select").style.width = "17rem"; // beside the two others
  const trouble = (text) => {
    const words = split(text),
      strange = words.filter((word) => !known.has(word));
    if (words.length === 0) return "Write a word.";
    if (words.length > most) return `At most ${most} words.`;
    return strange.length > 0 ? `Not in the language: ${strange.join(", ")}.` : "";
  };
  const own = textInput(state, "sentence", {
    style: "width: 24rem",
    complaint: trouble,
    change(text, { word }) {
      if (trouble(text)) return null; // an unfinished sentence: what was there still counts
      const words = split(text);
      return { example: -1, sentence: words.join(" "), word: Math.min(word, words.length - 1) };
    },
  });
  const token = choice(state, "word", "follow the word", ({ sentence }) =>
    split(sentence).map((text, i) => [i, `${i + 1} ${text}`]),
  );
  token.querySelector("select").style.width = "9rem"; // of any sentence, so that nothing moves
  const tokenOf = ({ sentence, word, hidden }) => (hidden ? "[MASK]" : split(sentence)[word]);

  const svg = drawing("svg", {});
  const picture = element("div", { style: "flex: 1 1 20rem" }, svg);
  state.drawWide(picture, (value, width) => draw(svg, width, result(value), tokenOf(value)));

  const names = result(state.value).map(({ name }) => name);
  const table = matrixTable(
    state,
    "lengths; cosine with the embedding",
    names,
    ["adds", "stream", "cosine"],
    (value) => result(value).map(({ added, stream, turn }) => [added, stream, turn]),
    { name: "stages" },
  );
  const tell = (token, [word, chance], turn, name) =>
    `“${token}” leaves the last block as “${word}” (${format(chance)}), at a cosine of ` +
    `${format(turn)} with its embedding. Most was added by ${name}.`;
  const sentence = (value) => {
    const stages = result(value),
      top = stages.at(-1);
    const largest = stages.slice(1).reduce((a, b) => (b.added > a.added ? b : a));
    return tell(tokenOf(value), top.words[0], top.turn, largest.name);
  };
  const word = longestOf(data.words);
  const say = announce(state, sentence, [tell(word, [word, 0], -1, longestOf(names))]);
  const top = (value) => result(value).at(-1);
  const puzzles = goals(state, [
    {
      text: "Hide a word that the encoder still names at the top with more than 0.9.",
      reached: (value) => {
        const [word, chance] = top(value).words[0];
        return value.hidden && chance > 0.9 && word === split(value.sentence)[value.word];
      },
    },
    {
      text: "Hide a word so that the top names another one with more than 0.5.",
      reached: (value) => {
        const [word, chance] = top(value).words[0];
        return value.hidden && chance > 0.5 && word !== split(value.sentence)[value.word];
      },
    },
  ]);
  frame(
    el,
    "A word’s way up through the trained encoder",
    element(
      "div",
      { class: "cl-controls" },
      examples,
      token,
      toggle(state, "hidden", "hide it behind [MASK]"),
    ),
    element(
      "div",
      { class: "cl-controls" },
      element(
        "label",
        {
          class: "cl-control",
          style: "grid-template-columns: auto minmax(0, auto); align-items: center",
        },
        "or your own sentence",
        own.input,
      ),
    ),
    own.alert,
    element("div", { class: "cl-side" }, picture, table),
    say,
    puzzles,
  );
  return state.close;
}

export default { render };
