// Blanks, and a trained network that guesses them all: the reader writes a word of a guess, or keeps
// some of what is drawn, and every other guess is made again.

import { button, choice, connect, remember } from "../../page/kit/controls.js";
import { announce, css, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { ACTIVATIONS, encoderBlocks, layerNorm, linear } from "../../page/kit/networks.js";
import { add, argmax, descending, randomAt, softmax } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";

const SHOWN = 3; // words of a guess
const ALL = 99;

css`
  .cl-blanks {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4rem;
    list-style: none;
    margin: 0.6rem 0;
    padding: 0;
  }
  .cl-blanks > li {
    flex: 1 1 5.2rem;
    max-width: 9rem;
    min-height: 8.6rem;
    margin: 0;
    text-align: center;
  }
  .cl-blanks .cl-drawn {
    display: block;
    border: 1.5px dashed var(--quiet);
    border-radius: 0.3rem;
    padding: 0.15rem 0.1rem;
    margin-bottom: 0.25rem;
    color: var(--quiet);
    font-style: italic;
    overflow-wrap: anywhere;
  }
  .cl-blanks .cl-next .cl-drawn {
    border: 1.5px solid var(--first);
    box-shadow: 0 0 0 1px var(--first);
  }
  .cl-blanks .cl-there .cl-drawn {
    border: 1.5px solid var(--ink);
    color: var(--ink);
    font-style: normal;
    font-weight: 650;
  }
  .cl-blanks button {
    display: block;
    width: 100%;
    min-height: 1.6rem;
    padding: 0.05rem 0.1rem;
    margin-bottom: 0.15rem;
    font-size: 0.82rem;
  }
  .cl-blanks small {
    color: var(--quiet);
  }
`;

/** Logits of every word at every place, as companion.models.BERT computes them. */
function read({ weights, depth, num_heads: numHeads, eps }, ids) {
  const type = weights["type_embedding.weight"][0];
  const summed = add(
    ids.map((id) => weights["token_embedding.weight"][id]),
    ids.map((_, i) => weights["positions.weight"][i]),
  ).map((row) => row.map((x, j) => x + type[j]));
  const options = { numHeads, normFirst: true, activation: "gelu", eps };
  const rows = layerNorm(weights, "embedding_norm", summed, eps);
  const passed = encoderBlocks(weights, "blocks", depth, rows, options);
  const hidden = layerNorm(weights, "final_norm", passed.at(-1).output, eps);
  const dense = linear(weights, "head.dense", hidden).map((row) => row.map(ACTIVATIONS.gelu));
  const table = {
    "table.weight": weights["token_embedding.weight"],
    "table.bias": weights["head.decoder.bias"],
  };
  return linear(table, "table", layerNorm(weights, "head.norm", dense, eps));
}

/** The first word at which the probabilities, added up, reach the number. */
function pick(chances, number) {
  let reached = 0;
  const found = chances.findIndex((p) => number < (reached += p));
  return found < 0 ? argmax(chances) : found;
}

function render({ model, el }) {
  const data = withWeights(model.get("data"));
  const { words, first, mask, ends, sizes } = data;
  const state = connect(model);

  const passesOf = ({ log }) => (log.length ? log.at(-1)[2] : 0);
  const standing = ({ size, log }) => {
    const there = Array(size).fill(null);
    for (const [place, id] of log) there[place] = id;
    return there;
  };
  /** For each blank the chances of all words and the one that is drawn; what is filled next. */
  const compute = ({ size, log, seed, keep, order }) => {
    const there = standing({ size, log });
    const ids = [ends[0], ...there.map((id) => id ?? mask), ends[1]];
    const logits = read(data, ids).slice(1, -1);
    const pass = passesOf({ log });
    const places = there.map((id, i) => {
      if (id !== null) return null;
      const chances = softmax(Array.from(logits[i], (x, j) => (j < first ? -Infinity : x)));
      return { chances, drawn: pick(chances, randomAt(seed, 64 * pass + i)) };
    });
    const urge = places.map((place, i) => {
      if (place === null) return -Infinity;
      if (order === "left") return -i;
      if (order === "surest") return Math.max(...place.chances);
      return randomAt(seed, 64 * pass + 32 + i);
    });
    const blanks = descending(urge).filter((i) => places[i]);
    return { there, places, blanks, next: blanks.slice(0, keep) };
  };
  const computed = remember(compute);
  const result = ({ size, log, seed, keep, order }) => computed({ size, log, seed, keep, order });
  const isOver = (value) => value.log.length === value.size;

  const onward = (value) => {
    const { places, next } = compute(value);
    const pass = passesOf(value) + 1;
    return { ...value, log: [...value.log, ...next.map((i) => [i, places[i].drawn, pass])] };
  };
  const toTheEnd = (value) => {
    let now = value;
    while (!isOver(now)) now = onward(now);
    return now;
  };
  const act = (name, text, change, disabled, look = {}) =>
    button(state, text, (value) => ({ log: change(value).log }), {
      name,
      ...look,
      draw: (node, value) => {
        node.disabled = disabled(value);
        if (name === "keep-some") node.textContent = keepText(value);
      },
    });
  const keepText = (value) => {
    const { blanks, next } = result(value);
    if (!blanks.length) return "Keep";
    return next.length === blanks.length && next.length > 1
      ? `Keep all ${next.length}`
      : `Keep ${next.length} of ${blanks.length}`;
  };
  const nothing = ({ log }) => log.length === 0;
  const back = (value) => ({ log: value.log.filter(([, , pass]) => pass < passesOf(value)) });
  const buttons = element(
    "div",
    { class: "cl-controls" },
    act("keep-some", "Keep", onward, isOver, { class: "cl-main" }),
    act("write", "To the end", toTheEnd, isOver),
    act("back", "Back", back, nothing),
    act("again", "Start again", () => ({ log: [] }), nothing),
    button(state, "Draw other words", ({ seed }) => ({ seed: (seed % 999) + 1 }), {
      name: "redraw",
      draw: (node, value) => {
        node.disabled = isOver(value);
      },
    }),
  );
  const settings = element(
    "div",
    { class: "cl-controls" },
    choice(state, "keep", "words kept of each guess", [1, 2, 3, 4, [ALL, "all"]]),
    choice(state, "order", "which", [
      ["random", "at random"],
      ["left", "the leftmost"],
      ["surest", "the surest"],
    ]),
    choice(state, "size", "words", sizes, { change: (size) => ({ size, log: [] }) }),
  );

  const list = element("ol", { class: "cl-blanks", "aria-label": "the sentence" });
  const choose = (place, id) => {
    const { log } = state.value;
    state.set({ log: [...log, [place, id, passesOf(state.value) + 1]] });
  };
  state.draw((value) => {
    const { there, places, next } = result(value);
    list.replaceChildren(
      ...there.map((id, i) => {
        if (id !== null) {
          const pass = value.log.find(([place]) => place === i)[2];
          return element(
            "li",
            { class: "cl-there" },
            element("span", { class: "cl-drawn", "data-name": "word" }, words[id]),
            element("small", {}, `step ${pass}`),
          );
        }
        const { chances, drawn } = places[i];
        const offers = descending(chances)
          .slice(0, SHOWN)
          .map((word) => {
            const number = element("span");
            write(number, chances[word], 2);
            Object.assign(number.dataset, { name: "chance", word: words[word] });
            const node = element(
              "button",
              {
                type: "button",
                "data-lm-suppress-shortcuts": true,
                "aria-label": `write ${words[word]} at place ${i + 1}, probability ${format(chances[word])}`,
              },
              `${words[word]} `,
              number,
            );
            node.addEventListener("click", () => choose(i, word));
            return node;
          });
        return element(
          "li",
          { class: next.includes(i) ? "cl-next" : "" },
          element("span", { class: "cl-drawn", "data-name": "drawn" }, words[drawn]),
          offers,
        );
      }),
    );
  });

  const tell = (value) => {
    const { there, places, blanks } = result(value);
    if (!blanks.length) {
      const passes = passesOf(value);
      const text = there.map((id) => words[id]).join(" ");
      return `“${text}”, in ${passes} ${passes === 1 ? "step" : "steps"}.`;
    }
    const most = (i) => Math.max(...places[i].chances);
    const surest = blanks.reduce((a, b) => (most(b) > most(a) ? b : a));
    const best = words[argmax(places[surest].chances)];
    return (
      `${there.length - blanks.length} of ${there.length} words are written. The network is ` +
      `surest of place ${surest + 1}: “${best}” (${format(most(surest))}).`
    );
  };

  const bestOf = (value) => compute(value).places.map((place) => place && argmax(place.chances));
  const moved = (value) => {
    const before = back(value).log;
    if (value.log.length - before.length !== 1) return false;
    const [was, is] = [bestOf({ ...value, log: before }), bestOf(value)];
    return is.some((word, i) => word !== null && word !== was[i]);
  };
  const certain = (value) => {
    const { places } = result(value);
    return (
      value.log.length <= 2 && places.some((place) => place && Math.max(...place.chances) > 0.95)
    );
  };
  frame(
    el,
    "A sentence out of blanks",
    settings,
    list,
    buttons,
    announce(state, tell, [
      "“the daughters watched the neighbours near the old waterfall”, in 10 steps.",
    ]),
    goals(state, [
      { text: "Write one word, and change what another blank most probably is.", reached: moved },
      {
        text: "With at most two words written, make the network more than 95 % sure of a third.",
        reached: certain,
      },
      {
        text: "Finish a sentence whose last word was written first.",
        reached: (value) =>
          isOver(value) &&
          value.log[0][0] === value.size - 1 &&
          value.log[0][2] < value.log.at(-1)[2],
      },
    ]),
  );
  return state.close;
}

export default { render };
