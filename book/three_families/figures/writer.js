// The chapter's GPT, writing here: the distribution over the next word, heated, cut, and drawn from.

import { button, choice, connect, remember, slider } from "../../page/kit/controls.js";
import { announce, css, element, format, frame, write } from "../../page/kit/dom.js";
import { encoderBlocks, layerNorm, tiedLogits } from "../../page/kit/networks.js";
import { add, argmax, randomAt } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";
import { drawingSliders, nextToken } from "../../page/kit/sampling.js";
import { textInput, wordsOf } from "../../page/kit/sentences.js";
import { shareBar } from "../../page/kit/tables.js";
import { wordList } from "../../page/kit/word_list.js";

const SHOWN = 7; // words in the list; the others are summed up

css`
  .cl-writer .cl-controls {
    gap: 0.5rem 0.9rem;
    margin-top: 0.6rem;
  }
  .cl-writer .cl-controls:first-child {
    gap: 0.5rem;
    margin-top: 0;
  }
  .cl-writer input[type="range"] {
    width: 7rem;
  }
  .cl-writer input[type="text"] {
    width: 11rem;
  }
  .cl-writer .cl-words {
    font-size: 0.85rem;
  }
  .cl-writer .cl-words li {
    min-width: 2rem;
    padding: 0 0.05rem;
  }
  .cl-writer .cl-words .cl-bar {
    height: 3rem;
  }
`;

/** The logits of the next word, and the weights that the last place gives: [block][head][place]. */
function read({ weights, num_heads: numHeads, num_layers: numLayers, activation }, ids) {
  const options = { numHeads, normFirst: true, activation, allowed: (i, j) => j <= i };
  const x = add(
    ids.map((id) => weights["token_embedding.weight"][id]),
    weights["positions.weight"],
  );
  const blocks = encoderBlocks(weights, "blocks", numLayers, x, options);
  const [last] = layerNorm(weights, "final_norm", blocks.at(-1).output.slice(-1));
  return {
    looks: blocks.map((block) => block.weights.map((head) => head.at(-1))),
    logits: tiedLogits(weights["token_embedding.weight"], last),
  };
}

/** The first word, from the most probable on, at which the probabilities reach the drawn number. */
function pick({ kept, probabilities }, number) {
  let reached = 0;
  for (const id of kept) {
    reached += probabilities[id];
    if (number < reached) return id;
  }
  return kept[kept.length - 1];
}

function render({ model, el }) {
  const data = withWeights(model.get("data"));
  const { words, bos, eos, hidden, no_cut: noCut } = data;
  const ids = new Map(words.map((word, id) => [word, id]));
  const known = words.filter((word) => !hidden.includes(word));
  const state = connect(model);

  const typed = ({ prompt }) => wordsOf(prompt);
  const isKnown = (word) => ids.has(word) && !hidden.includes(word);
  const unknown = (value) => typed(value).filter((word) => !isKnown(word));
  const sentence = (value) =>
    [words[bos], ...typed(value).filter(isKnown), ...value.written].slice(0, data.max_len);
  const compute = (value) => {
    const tokens = sentence(value);
    const { looks, logits } = read(
      data,
      tokens.map((word) => ids.get(word)),
    );
    return { tokens, looks, logits, ...nextToken(logits, value, noCut) };
  };
  const result = remember(compute);
  const isOver = (value) =>
    value.written.at(-1) === words[eos] || sentence(value).length >= data.max_len;
  const oneMore = (value) => {
    const found = compute(value);
    const next = words[pick(found, randomAt(value.seed, found.tokens.length))];
    return { ...value, written: [...value.written, next] };
  };

  const prompt = textInput(state, "prompt", {
    complaint: (text) => unknown({ prompt: text }).join(" "),
    change: (text) => ({ prompt: text, written: [] }),
  });

  const step = (name, text, act, disabled, main = false) =>
    button(state, text, (value) => ({ written: act(value) }), {
      name,
      class: main ? "cl-main" : null,
      draw: (node, value) => {
        node.disabled = disabled(value);
      },
    });
  const toTheEnd = (value) => {
    let now = value;
    while (!isOver(now)) now = oneMore(now);
    return now.written;
  };
  const nothingWritten = ({ written }) => written.length === 0;
  const buttons = element(
    "div",
    { class: "cl-controls" },
    element("label", { class: "cl-control" }, "the sentence begins with", prompt.input),
    step("next", "Next word", (value) => oneMore(value).written, isOver, true),
    step("write", "To the end", toTheEnd, isOver),
    step("back", "Back one", ({ written }) => written.slice(0, -1), nothingWritten),
    step("again", "Start again", () => [], nothingWritten),
  );
  const controls = element(
    "div",
    { class: "cl-controls" },
    drawingSliders(state, noCut),
    slider(state, "seed", "seed", { min: 1, max: 50 }),
    choice(
      state,
      "head",
      "weights of",
      Array.from({ length: data.num_layers * data.num_heads }, (_, i) => {
        const layer = Math.floor(i / data.num_heads) + 1,
          head = (i % data.num_heads) + 1;
        return [
          `${layer - 1}.${head - 1}`,
          data.num_layers > 1 ? `block ${layer}, head ${head}` : `head ${head}`,
        ];
      }),
    ),
  );

  const chips = wordList({
    "aria-label": "the sentence so far, with the weight that the last word gives to every word",
  });
  state.draw((value) => {
    const { tokens, looks } = result(value);
    const [layer, head] = value.head.split(".").map(Number);
    const row = looks[layer][head],
      most = argmax(row),
      own = tokens.length - value.written.length;
    chips.replaceChildren(
      ...tokens.map((text, i) =>
        element(
          "li",
          {
            class: [i === tokens.length - 1 ? "cl-from" : "", i === most ? "cl-most" : ""].join(
              " ",
            ),
          },
          element("span", { class: "cl-bar", "aria-hidden": "true" }, shareBar(row[i])),
          element("span", { class: "cl-word" }, i < own ? text : element("u", {}, text)),
          write(element("span", { class: "cl-number" }), row[i]),
        ),
      ),
    );
  });

  const next = element("div", { class: "cl-answers", "data-name": "next" });
  state.draw((value) => {
    const { order, heated, kept, probabilities, logits } = result(value);
    const isKept = new Set(kept);
    const line = (text, share, isCut, number) => {
      const hollow = "background: none; border: 1.5px dashed var(--quiet)";
      const bar = shareBar(share, { "aria-hidden": "true", style: isCut ? hollow : null });
      return [element("span", { class: isCut ? "cl-off" : null }, text), bar, number];
    };
    const shown = order.slice(0, SHOWN).flatMap((id) => {
      const isCut = !isKept.has(id);
      const number = element("span");
      write(number, probabilities[id], 3);
      if (isCut) number.textContent = `cut (${format(heated[id], 3)})`;
      Object.assign(number.dataset, { word: words[id], logit: String(logits[id]) });
      return line(words[id], isCut ? heated[id] : probabilities[id], isCut, number);
    });
    const rest = order.slice(SHOWN);
    const total = rest.reduce((sum, id) => sum + probabilities[id], 0);
    const alive = rest.filter((id) => isKept.has(id)).length;
    const number = write(element("span", { "data-name": "rest" }), total, 3);
    const label = alive ? `${alive} other words` : "all others cut";
    next.replaceChildren(...shown, ...line(label, total, alive === 0, number));
  });

  const say = announce(state, (value) => {
    const { order, kept, probabilities, tokens } = result(value);
    const strange = unknown(value);
    const ignored = strange.length
      ? `Not among the known words, so left out: ${strange.map((word) => `“${word}”`).join(", ")}. `
      : "";
    if (isOver(value)) {
      const end =
        tokens.at(-1) === words[eos]
          ? "The sentence is over."
          : `There is no room for more: the model reads at most ${data.max_len} tokens.`;
      return `${ignored}“${tokens.slice(1).join(" ")}”. ${end}`;
    }
    return (
      `${ignored}${kept.length} of ${words.length} tokens can come next. The most probable is ` +
      `“${words[order[0]]}” (${format(probabilities[order[0]])}).`
    );
  });
  frame(
    el,
    "The trained GPT, writing",
    element("div", { class: "cl-writer" }, buttons, chips, controls),
    element(
      "p",
      { style: "margin: .3rem 0" },
      "What may come next, with its probability after temperature and cuts:",
    ),
    next,
    say,
    element(
      "details",
      { style: "margin-top: .8rem" },
      element("summary", {}, `The ${known.length} words that it knows`),
      element("p", {}, known.join(" ")),
    ),
  );
  return state.close;
}

export default { render };
