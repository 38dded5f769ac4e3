// Beam search by the chapter's translator, as a tree: rows are words, columns are places in the beam.

import { button, choice, connect, remember, slider } from "../../page/kit/controls.js";
import {
  announce,
  css,
  drawing,
  element,
  format,
  frame,
  paint,
  write,
} from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp, softmax } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";
import { label } from "../../page/kit/stage.js";
import { columnHead, headRow, tableRow } from "../../page/kit/tables.js";
import { decodeNext, encodeTokens, heldAtFirst } from "../../page/kit/transformer.js";

const TOP = 24, // pixels
  BESIDE = 94; // a column that has room for a word and its number beside each other

css`
  .cl-beam {
    display: grid;
    gap: 0.4rem 1.2rem;
    grid-template-columns: minmax(0, 1fr) 15.5rem;
    align-items: start;
  }
  .cl-beam .cl-say,
  .cl-beam .cl-captions > p {
    margin-top: 0;
  }
  .cl-beam-controls {
    margin-bottom: 0.7rem;
    input[type="range"] {
      width: 8rem;
    }
    select {
      width: 19.5rem;
    }
  }
  .cl-beam .cl-controls {
    margin: 0 0 0.6rem;
    gap: 0.5rem;
  }
  .cl-beam .cl-goals p {
    font-size: 0.8rem;
  }
  .cl-beam + table.cl-counts {
    margin-top: 0.3rem;
    :is(th, td) {
      padding-block: 0.2rem;
    }
  }
  @media (max-width: 40rem) {
    .cl-beam {
      grid-template-columns: minmax(0, 1fr);
    }
    .cl-beam-controls :is(select, input[type="range"]) {
      width: 100%;
    }
  }
`;

/** What a log-probability is divided by (companion.generation.search.penalty). */
const penalty = (length, alpha) => ((5 + length) / 6) ** alpha;

/** From a beginning, a list of ids, to the log-probabilities of what follows. Each beginning is read
    once, and only its last word: what the decoder holds of the words before is copied. */
function reader(data, source) {
  const memory = encodeTokens(data, source).at(-1).output,
    known = new Map([["", { held: heldAtFirst(data, memory) }]]);
  const read = (ids) => {
    const key = ids.join();
    if (!known.has(key)) {
      const held = read(ids.slice(0, -1)).held.map(({ cache, ...layer }) => ({
        ...layer,
        cache: { key: [...cache.key], value: [...cache.value] },
      }));
      const { logits } = decodeNext(data, held, ids.at(-1));
      known.set(key, { held, shares: softmax(logits).map(Math.log) });
    }
    return known.get(key);
  };
  return (ids) => read(ids).shares;
}

/** companion.generation.beam_search, with all that it kept: rows[t] is the beam after t words, each
    { ids, score, share, parent, ended }; `finished` has the complete ones with their `rated` scores. */
function search({ bos_id: bos, eos_id: eos, longest_target: longest }, next, size, alpha) {
  const rows = [[{ ids: [bos], score: 0 }]],
    finished = [];
  let best = null;
  for (let length = 1; length < longest; length++) {
    const grown = rows.at(-1).flatMap((from, parent) =>
      from.ended
        ? []
        : next(from.ids).map((share, id) => ({
            ...{ ids: [...from.ids, id], score: from.score + share, share },
            ...{ parent, ended: id === eos },
          })),
    );
    const row = grown.sort((a, b) => b.score - a.score).slice(0, size);
    rows.push(row);
    for (const node of row.filter(({ ended }) => ended)) {
      const done = { ...node, length, rated: node.score / penalty(length, alpha) };
      finished.push(done);
      if (!best || done.rated > best.rated) best = done;
    }
    const alive = row.filter(({ ended }) => !ended).map(({ score }) => score);
    const reachable = Math.max(...alive) / penalty(longest - 1, alpha); // -Infinity: none is left
    if (best && best.rated >= reachable) break;
  }
  return { rows, finished, best };
}

/** Which nodes of the tree lead to one that is in the last row drawn, or is complete. */
function livingNodes(rows, last) {
  const living = rows.map(() => new Set());
  for (let t = last; t > 0; t--) {
    rows[t].forEach((node, rank) => {
      if (t === last || node.ended) living[t].add(rank);
      if (living[t].has(rank)) living[t - 1].add(node.parent);
    });
  }
  return living;
}

/** How a tree of so many rows is laid out: its columns, whether a number stands beside its word or
    below it, and the height of a row. */
function layout(width, size, deepest) {
  const column = Math.min(150, width / size),
    beside = column >= BESIDE;
  const row = beside ? Math.max(26, Math.min(44, 300 / deepest)) : 54;
  return { column, beside, row, left: (width - column * size) / 2 };
}

/** The tree down to row `last`, of `deepest`; `winner` is the ids of the result, once it is known. */
function tree({ rows, words, last, deepest, winner, width, size }) {
  const { column, beside, row, left } = layout(width, size, deepest);
  const x = (rank) => left + (rank + 0.5) * column,
    y = (t) => TOP + (t - 1) * row;
  const living = livingNodes(rows, last);
  const onWay = ({ ids }) => winner !== null && ids.every((id, i) => id === winner[i]);
  const edges = [],
    nodes = [];
  for (let t = 1; t <= last; t++) {
    rows[t].forEach((node, rank) => {
      const opacity = living[t].has(rank) ? 1 : 0.5;
      const now = onWay(node);
      const from = t > 1 ? [x(node.parent), y(t - 1) + (beside ? 5 : 21)] : [width / 2, 2];
      const [fx, fy] = from,
        [tx, ty] = [x(rank), y(t) - 13];
      const middle = (fy + ty) / 2;
      edges.push(
        drawing("path", {
          d: `M${fx} ${fy}C${fx} ${middle} ${tx} ${middle} ${tx} ${ty}`,
          fill: "none",
          stroke: now ? "var(--first)" : "var(--quiet)",
          "stroke-width": 1 + 5 * Math.exp(node.share),
          opacity: opacity * 0.75,
        }),
      );
      const side = beside ? " cl-end" : "";
      const name = node.ended ? "■" : words[node.ids.at(-1)];
      const word = label(name, beside ? 12 : 0, 0, (now ? "cl-strong" : "") + side);
      const place = beside ? { x: 16, class: "cl-quiet cl-start" } : { y: 15, class: "cl-quiet" };
      const number = write(
        drawing("text", { ...place, "data-name": "share" }),
        Math.exp(node.score),
        3,
      );
      number.style.fontSize = "11px";
      if (beside && column < 120) word.style.fontSize = "11.5px";
      nodes.push(drawing("g", { transform: `translate(${tx} ${y(t)})`, opacity }, word, number));
    });
  }
  return [...edges, ...nodes];
}

function render({ model, el }) {
  const data = withWeights(model.get("data"));
  const { words } = data;
  const state = connect(model);
  const readers = new Map(
    data.examples.map((text) => {
      const ids = text.split(" ").map((word) => words.indexOf(word));
      return [text, remember(() => reader(data, ids))];
    }),
  );
  const run = (sentence, size, alpha) => search(data, readers.get(sentence)(0), size, alpha);
  const all = remember(({ sentence, size, alpha }) => ({
    found: run(sentence, size, alpha),
    plain: run(sentence, size, 0),
    greedy: run(sentence, 1, 0),
  }));
  const result = ({ sentence, size, alpha }) => all({ sentence, size, alpha });
  // drawn as far as the result reaches; the search may look further and find nothing better
  const last = (value) => {
    const { rows, best } = result(value).found;
    return best ? best.length : rows.length - 1;
  };
  const at = (value) => Math.min(value.step, last(value));
  const isOver = (value) => at(value) === last(value) && result(value).found.best !== null;
  const text = (ids) =>
    ids
      .slice(1)
      .map((id) => words[id])
      .filter((word) => word !== "[EOS]")
      .join(" ");

  const steps = slider(state, "step", "words written", {
    min: 1,
    max: last,
    describe: (_, value) => `${at(value)} of ${last(value)}`,
  });
  const turn = (name, by, look) =>
    button(state, name, (value) => ({ step: clamp(at(value) + by, 1, last(value)) }), {
      class: look,
      draw: (node, value) =>
        node.setAttribute("aria-disabled", at(value) === (by < 0 ? 1 : last(value))),
    });
  const controls = element(
    "div",
    { class: "cl-controls cl-beam-controls" },
    choice(state, "sentence", "a sentence goes in", data.examples),
    slider(state, "size", "beam size", { min: 1, max: 4 }),
    slider(state, "alpha", "length penalty α", {
      min: 0,
      max: 2,
      step: 0.2,
      describe: (number) => format(number, 1),
    }),
  );
  const turns = element(
    "div",
    { class: "cl-controls" },
    steps,
    turn("Back", -1),
    turn("Next word", 1, "cl-main"),
  );

  const picture = drawing("svg");
  const box = element("div", { class: "cl-stage" }, picture);
  state.drawWide(box, (value, width) => {
    const { rows, best } = result(value).found;
    const shown = at(value);
    paint(
      picture,
      width,
      // of the whole tree, so that nothing below moves
      TOP + (last(value) - 1) * layout(width, value.size, last(value)).row + 20,
      `The tree of the search after ${shown} words`,
      tree({
        ...{ rows, words, width, last: shown, deepest: last(value), size: value.size },
        winner: isOver(value) ? best.ids : null,
      }),
    );
  });

  const body = element("tbody");
  const table = element(
    "table",
    { class: "cl-counts", "data-name": "finished" },
    headRow(["complete translations", "probability", "words", "score"].map(columnHead)),
    body,
  );
  state.draw((value) => {
    const { found, greedy } = result(value);
    const done = found.finished.filter(({ length }) => length <= at(value));
    const sorted = done.sort((a, b) => b.rated - a.rated).slice(0, 2);
    const row = (name, { ids, score, length }) => {
      const cells = ["probability", "words", "score"].map((key) =>
        element("td", { "data-name": key }),
      );
      write(cells[0], Math.exp(score), 3);
      write(cells[1], length, 0);
      write(cells[2], score / penalty(length, value.alpha), 2);
      const heading = element("span", {}, `${name}: `, element("span", { lang: "fr" }, text(ids)));
      const node = tableRow(heading, cells);
      node.firstChild.style.whiteSpace = "normal";
      return node;
    };
    const final = found.finished.filter(({ length }) => length <= last(value)).slice(0, 2);
    const room = final.slice(sorted.length).map(({ ids }) => {
      const node = tableRow(`1: ${text(ids)}`);
      Object.assign(node.firstChild.style, {
        whiteSpace: "normal",
        visibility: "hidden",
        border: 0,
      });
      return node;
    });
    body.replaceChildren(
      ...sorted.map((node, i) => row(`${i + 1}`, node)),
      ...room,
      ...(greedy.best ? [row("greedy", greedy.best)] : []),
    );
  });

  const same = (a, b) => a.ids.join() === b.ids.join();
  const tell = (value) => {
    const { found, greedy } = result(value);
    const shown = at(value),
      kept = found.rows[shown];
    const before = found.rows[shown - 1].filter(({ ended }) => !ended).length;
    const competing =
      `Word ${shown}: ${before * words.length} continuations compete, ${kept.length} ` +
      `${kept.length === 1 ? "is" : "are"} kept. The best is ` +
      `“${text(kept[0].ids)}” (${format(Math.exp(kept[0].score), 3)}).`;
    if (!isOver(value)) return competing;
    const more = found.rows.length - 1 - shown;
    const on = more ? ` The search went on for ${more} more, and nothing overtook it.` : "";
    const against =
      greedy.best === null
        ? "Greedy decoding never ends."
        : same(found.best, greedy.best)
          ? "Greedy decoding writes the same."
          : `Greedy decoding writes “${text(greedy.best.ids)}” ` +
            `(${format(Math.exp(greedy.best.score), 3)}).`;
    return (
      `The result is “${text(found.best.ids)}” ` +
      `(${format(Math.exp(found.best.score), 3)}). ${against}${on}`
    );
  };
  const say = announce(state, tell, [tell({ ...state.value, step: Infinity })]);
  const puzzles = goals(state, [
    {
      text: "End on something more probable than greedy.",
      reached: (value) => {
        const { found, greedy } = result(value);
        return isOver(value) && greedy.best !== null && found.best.score > greedy.best.score + 1e-9;
      },
    },
    {
      text: "Find a beam of 4 that writes the same as greedy.",
      reached: (value) => {
        const { found, greedy } = result(value);
        const ended = isOver(value) && greedy.best !== null;
        return value.size === 4 && ended && same(found.best, greedy.best);
      },
    },
    {
      text: "Make a longer translation win by its penalty.",
      reached: (value) => {
        const { found, plain } = result(value);
        return isOver(value) && plain.best !== null && found.best.length > plain.best.length;
      },
    },
  ]);
  frame(
    el,
    "A beam search, word by word",
    controls,
    element("div", { class: "cl-beam" }, box, element("div", {}, turns, say, puzzles)),
    table,
  );
  return state.close;
}

export default { render };
