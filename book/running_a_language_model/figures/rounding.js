// 64 weights of a model, rounded to a few bits with one scale for each group: what the outlier does to its
// neighbours, and what a scale costs.

import { choice, connect, remember, slider } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp } from "../../page/kit/numerics.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { tableRow } from "../../page/kit/tables.js";

const GROUPS = ["4", "8", "16", "32", "64", "matrix"];
const SCALE_BITS = 16;

/** torch.round: a tie goes to the even number. */
const roundEven = (x) => {
  const near = Math.round(x);
  return Math.abs(x % 1) === 0.5 && near % 2 ? near - 1 : near;
};

/** The chapter's quantise() on all weights: what they become, their scales, error and price. */
function rounded({ weights, largest }, { bits, block }) {
  const size = block === "matrix" ? weights.length : Number(block);
  const levels = 2 ** (bits - 1) - 1;
  const scales = [],
    values = [];
  for (let start = 0; start < weights.length; start += size) {
    const group = weights.slice(start, start + size);
    const most = block === "matrix" ? largest : Math.max(...group.map(Math.abs));
    const scale = most / levels;
    scales.push(scale);
    values.push(...group.map((weight) => roundEven(weight / scale) * scale));
  }
  const length = (numbers) => Math.sqrt(numbers.reduce((sum, x) => sum + x * x, 0));
  const error = length(values.map((value, i) => value - weights[i])) / length(weights);
  const price = bits + (block === "matrix" ? 0 : SCALE_BITS / size);
  const zeros = values.filter((value) => value === 0).length;
  return { size, scales, values, error, price, zeros, levels };
}

function build(root, width, data, result) {
  const { weights } = data;
  const height = 232,
    middle = height / 2;
  const sizes = weights.map(Math.abs).sort((a, b) => a - b);
  const most = 1.3 * sizes.at(-4); // what is larger sits at the edge, with its number
  const column = (width - 8) / weights.length;
  const x = (i) => 4 + (i + 0.5) * column,
    y = (weight) => middle - clamp(weight / most, -1, 1) * (middle - 14);
  const grid = drawing("path", { class: "cl-axis" });
  const edges = drawing("path", { class: "cl-line", "stroke-dasharray": "3 3" });
  root.append(grid, edges, drawing("path", { class: "cl-axis", d: `M0 ${middle}H${width}` }));
  const pairs = weights.map((weight, i) => {
    const stem = drawing("path", { class: "cl-shaft", "stroke-width": 1 });
    const truth = drawing("circle", { class: "cl-ring", cx: x(i), cy: y(weight), r: 2.6 });
    root.append(drawing("g", { class: "cl-measure" }, stem), truth);
    if (Math.abs(weight) > most) {
      const side = i < weights.length / 2 ? 1 : -1;
      const name = `cl-quiet cl-over ${side > 0 ? "cl-start" : "cl-end"}`;
      root.append(label(`${format(weight)}, far outside`, x(i) + 10 * side, y(weight) + 4, name));
    }
    const size = Math.max(2, Math.min(5, column - 1));
    const box = { x: -size / 2, y: -size / 2, width: size, height: size };
    const node = drawing("g", { class: "cl-measure", "data-name": "rounded" });
    node.append(drawing("rect", { ...box, style: "fill: var(--tone)" }));
    return { stem, node, dot: part(root, node, { x: x(i), y: y(weight) }) };
  });
  function pose(value, { jump }) {
    const { size, scales, values, levels } = result(value);
    const steps = scales.flatMap((scale, g) =>
      levels > 7 ? [] : Array.from({ length: 2 * levels + 1 }, (_, k) => [g, (k - levels) * scale]),
    );
    const line = ([g, level]) =>
      Math.abs(level) <= most ? `M${x(g * size) - column / 2} ${y(level)}h${size * column}` : "";
    grid.setAttribute("d", steps.map(line).join(""));
    const cuts = scales.slice(1).map((_, g) => x((g + 1) * size) - column / 2);
    edges.setAttribute("d", cuts.map((cut) => `M${cut} 0V${height}`).join(""));
    pairs.forEach(({ stem, node, dot }, i) => {
      node.dataset.value = String(values[i]);
      stem.setAttribute("d", `M${x(i)} ${y(weights[i])}V${y(values[i])}`);
      dot.to({ y: y(values[i]) }, { jump });
    });
  }
  return { height, pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const state = connect(model);
  const result = remember(({ bits, block }) => rounded(data, { bits, block }));
  const now = ({ bits, block }) => result({ bits, block });
  const every = [2, 3, 4, 5, 6, 7, 8].flatMap((bits) =>
    GROUPS.map((block) => rounded(data, { bits, block })),
  );
  const picture = stage(state, "64 weights and what they are rounded to", (root, width) =>
    build(root, width, data, now),
  );
  const names = GROUPS.map((block) => [
    block,
    block === "matrix" ? "the whole matrix" : `${block} weights`,
  ]);
  const controls = element(
    "div",
    { class: "cl-controls", style: "flex: 1 1 14rem; margin: 0" },
    slider(state, "bits", "bits", { min: 2, max: 8 }),
    choice(state, "block", "one scale for", names),
  );
  const cells = ["error", "price", "zeros"].map((name) => element("td", { "data-name": name }));
  state.draw((value) => {
    const { error, price, zeros } = now(value);
    write(cells[0], error, 3);
    write(cells[1], price, 1);
    write(cells[2], zeros, 0);
  });
  const numbers = element(
    "table",
    {},
    element("caption", {}, "What it does to these weights"),
    element(
      "tbody",
      {},
      tableRow("relative error", cells[0]),
      tableRow("bits per weight, with scales", cells[1]),
      tableRow("weights that became zero", cells[2]),
    ),
  );
  const say = announce(state, (value) => {
    const { error, price, zeros } = now(value);
    return `${value.bits} bits, ${names.find(([block]) => block === value.block)[1]} to a scale: error ${format(error, 3)}, ${format(price, 1)} bits per weight, ${zeros} of ${data.weights.length} weights are zero.`;
  });
  const least = Math.min(...every.filter(({ price }) => price <= 5).map(({ error }) => error));
  const puzzles = goals(state, [
    {
      text: "With 4 bits, halve the error that one scale for the whole matrix makes.",
      reached: (value) =>
        value.bits === 4 &&
        now(value).error < rounded(data, { bits: 4, block: "matrix" }).error / 2,
    },
    {
      text: "Find the least error that 5 bits per weight can buy, scales included.",
      reached: (value) => now(value).price <= 5 && now(value).error <= least,
    },
  ]);
  const legend = element(
    "p",
    { style: "color: var(--quiet); font-size: 0.86rem" },
    "Circles: the weights. Squares: what they become. Lines: the steps, where they are few. Dashed: where another scale, of 16 bits, begins.",
  );
  const side = element("div", { class: "cl-side", style: "margin-top: 0.6rem" }, controls, numbers);
  frame(el, "Rounding 64 weights", picture, legend, side, say, puzzles);
  return state.close;
}

export default { render };
