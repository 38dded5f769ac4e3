// A bet against the claim that a test set is new: the stake is multiplied by p_model / p_true, sentence by sentence.

import { axes } from "../../page/kit/axes.js";
import { connect, slider, tabs } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { tableRow } from "../../page/kit/tables.js";

const PROOF = Math.log10(20);

/** The stake's logarithm before the first sentence and after each. */
function running(gains) {
  const sums = [0];
  for (const gain of gains) sums.push(sums[sums.length - 1] + gain);
  return sums;
}

/** A stake in words: as a number where it is one to read, else as a power of ten. */
const inWords = (log) =>
  Math.abs(log) < 3
    ? format(10 ** log, log < 0 ? 3 : 1)
    : `10 to the power ${String(Math.round(log)).replace("-", "−")}`;

/** 10 to a power as a drawing has it: every digit of the exponent is raised. */
const raised = (number) =>
  number === 0 ? "1" : `10${[...String(number).replace("-", "−")].map((c) => `^${c}`).join("")}`;

function build(root, width, { ways, honest, low, high, count }) {
  const edge = { left: 52, right: 14, top: 10, bottom: 36 };
  const height = 250;
  const step = high - low > 24 ? 10 : 5;
  const ticks = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) ticks.push(tick);
  const { x, y } = axes(
    root,
    { left: edge.left, right: width - edge.right, top: edge.top, bottom: height - edge.bottom },
    {
      x: { first: 0, last: count, ticks: [0, 1, 2, 3, 4].map((i) => (i * count) / 4) },
      y: { first: low, last: high, ticks, text: raised },
    },
  );
  root.append(label("sentences read", (edge.left + width) / 2, height - 2, "cl-quiet"));
  const way = (sums) => `M${sums.map((sum, i) => `${x(i)} ${y(sum)}`).join("L")}`;
  root.append(
    ...honest.map((sums) =>
      drawing("path", {
        class: "cl-line",
        "data-name": "honest",
        style: "stroke: var(--quiet); stroke-width: 0.8; opacity: 0.5",
        d: way(sums),
      }),
    ),
    drawing("path", {
      class: "cl-line",
      "stroke-dasharray": "6 4",
      style: "stroke: var(--ink)",
      d: `M${edge.left} ${y(PROOF)}H${width - edge.right}`,
    }),
  );
  const thin = Object.values(ways)[0]
    .slice(1)
    .map(() =>
      drawing("path", {
        class: "cl-line",
        "data-name": "other",
        style: "stroke: var(--second); stroke-width: 0.9; opacity: 0.6",
      }),
    );
  const quiet = "cl-start cl-quiet cl-over";
  root.append(
    ...thin,
    label("thin: other starts", edge.left + 8, edge.top + 14, quiet),
    label("grey: never in the text", edge.left + 8, edge.top + 30, quiet),
    label("20 to 1", width - edge.right - 4, y(PROOF) - 6, "cl-end cl-strong cl-over"),
  );
  const line = drawing("path", {
    class: "cl-line",
    "data-name": "stake-line",
    style: "stroke: var(--second); stroke-width: 2.6",
  });
  root.append(line);
  const dot = part(root, drawing("circle", { r: 5.5, style: "fill: var(--second)" }));
  function pose({ copies, read }) {
    const [sums, ...others] = ways[copies];
    thin.forEach((path, i) => path.setAttribute("d", way(others[i])));
    line.setAttribute("d", way(sums.slice(0, read + 1)));
    dot.to({ x: x(read), y: y(sums[read]) }, { jump: true });
  }
  return { height, pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const count = data.honest[0].length; // of sentences; of every set those of the first start are read
  const names = Object.keys(data.sets);
  const ways = Object.fromEntries(names.map((name) => [name, data.sets[name].map(running)]));
  const honest = data.honest.map(running);
  const ends = [...Object.values(ways).flat(), ...honest].flat();
  const low = Math.min(...ends) - 0.5,
    high = Math.max(...ends) + 0.5;
  const state = connect(model);
  const at = ({ copies, read }) => ways[copies][0][read];
  const times = (copies) => (copies === "0" ? "never" : `${copies} times`);
  const tell = (value) => {
    const now = at(value);
    const verdict =
      now >= PROOF
        ? "More than 20 to 1: the leak is proved, and you may stop."
        : value.read === count
          ? "The set is read, and nothing is proved."
          : "Nothing is proved yet.";
    return `The test set was in the training text ${times(value.copies)}. After ${value.read} sentences a stake of 1 has become ${inWords(now)}. ${verdict}`;
  };
  const first = (copies) => ways[copies][0].findIndex((sum) => sum >= PROOF);
  const start = state.value;
  const proved = names.filter((name) => first(name) > 0);
  const puzzles = [
    ...proved.map((name) => ({
      text: `Stop at the first sentence at which ${name} copies are proved.`,
      reached: ({ copies, read }) => copies === name && read === first(name),
    })),
    {
      text: "Read a set to its end that was never in the training text.",
      reached: ({ copies, read }) => copies === "0" && read === count,
    },
  ].filter(({ reached }) => !reached(start));
  const cells = ["gain", "stake"].map((name) => element("td", { "data-name": name }));
  state.draw((value) => {
    write(cells[0], value.read ? data.sets[value.copies][0][value.read - 1] : 0, 2);
    write(cells[1], at(value), 2);
  });
  const numbers = element(
    "table",
    {},
    element(
      "tbody",
      {},
      tableRow("log₁₀ of this sentence's q / p", cells[0]),
      tableRow("log₁₀ of the stake, E", cells[1]),
    ),
  );
  frame(
    el,
    "Bet against “it is new”",
    tabs(
      state,
      "copies",
      "copies in the training text",
      names.map((name) => [name, name === "0" ? "no copy" : `${name} copies`]),
    ),
    stage(state, "The stake, on a logarithmic scale, over the sentences read", (root, width) =>
      build(root, width, { ways, honest, low, high, count }),
    ),
    element(
      "div",
      { class: "cl-side" },
      slider(state, "read", "sentences read", { min: 0, max: count }),
      numbers,
    ),
    announce(state, tell),
    goals(state, puzzles),
  );
  return state.close;
}

export default { render };
