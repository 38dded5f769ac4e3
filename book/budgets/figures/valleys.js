// Budgets of operations, each spent on models of several sizes. The reader spends them, and every run stays;
// the smallest budget has been spent on all sizes before.

import { axes } from "../../page/kit/axes.js";
import { connect, slider, tabs, toggle } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, stage } from "../../page/kit/stage.js";

const billions = (budget) => `${format(budget / 1e9, 1)} billion`;
const thousands = (n) => `${format(n / 1000, n < 10000 ? 1 : 0)}k`;
const mean = (row) => row.reduce((sum, number) => sum + number, 0) / row.length;
const TONES = ["--quiet", "--second", "--first"];

function build(root, width, data, { bare }, seen) {
  const { budgets, gaps } = data;
  const sizes = bare ? data.bare : data.sizes,
    best = bare ? data.bareBest : data.best;
  const left = 44,
    right = width - 74,
    top = 26,
    bottom = 236;
  const all = gaps.flat(2);
  const ticks = [0.05, 0.1, 0.2, 0.5, 1, 2].filter(
    (gap) => gap > Math.min(...all) / 1.2 && gap < Math.max(...all) * 1.2,
  );
  const { x, y } = axes(
    root,
    { left, right, top, bottom },
    {
      x: {
        first: sizes[0] / 1.15,
        last: sizes.at(-1) * 1.15,
        log: true,
        ticks: sizes,
        text: thousands,
      },
      y: { first: Math.min(...all) / 1.2, last: Math.max(...all) * 1.2, log: true, ticks },
    },
  );
  root.append(
    label(
      `parameters${bare ? " without the embedding" : ""}`,
      (left + right) / 2,
      bottom + 37,
      "cl-quiet",
    ),
    label("nats per token above the entropy", left + 4, 12, "cl-quiet cl-start"),
  );
  const rows = budgets.map((budget, b) => {
    const tone = `var(${TONES[b % 3]})`;
    const line = drawing("path", { class: "cl-line", style: `stroke: ${tone}; stroke-width: 2.2` });
    const bottomMark = drawing("path", {
      class: "cl-line",
      style: `stroke: ${tone}; stroke-dasharray: 2 4`,
      d: `M${x(best[b])} ${top}V${bottom}`,
    });
    const name = label(billions(budget), right + 6, 0, "cl-start");
    const dots = sizes.map((n, i) => {
      const node = drawing("g", { "data-name": "runs" });
      for (const run of gaps[b])
        node.append(
          drawing("circle", {
            r: 3,
            cx: x(n),
            cy: y(run[i]),
            style: `fill: ${tone}; opacity: 0.75`,
          }),
        );
      root.append(node);
      return node;
    });
    root.append(line, bottomMark, name);
    return { line, bottomMark, name, dots };
  });
  const ring = drawing("circle", { class: "cl-ring", r: 9 });
  root.append(ring);
  return {
    height: bottom + 44,
    pose({ budget, size }) {
      const now = Number(budget);
      rows.forEach(({ line, bottomMark, name, dots }, b) => {
        const there = sizes.map((_, i) => i).filter((i) => seen[b].has(i));
        const heights = there.map((i) => y(mean(gaps[b].map((run) => run[i]))));
        dots.forEach((node, i) => (node.style.display = seen[b].has(i) ? "" : "none"));
        const points = there.map((i, j) => `${x(sizes[i])} ${heights[j]}`);
        line.setAttribute("d", points.length > 1 ? `M${points.join("L")}` : "");
        bottomMark.style.display = there.length === sizes.length ? "" : "none";
        name.style.display = there.length ? "" : "none";
        name.classList.toggle("cl-strong", b === now);
        if (there.length) name.setAttribute("y", String(heights.at(-1) + 4));
      });
      ring.setAttribute("cx", String(x(sizes[size])));
      ring.setAttribute("cy", String(y(mean(gaps[now].map((run) => run[size])))));
    },
  };
}

function render({ model, el }) {
  const data = model.get("data"),
    { sizes, budgets, steps, gaps, best, bareBest } = data;
  const state = connect(model);
  const seen = budgets.map((_, b) => new Set(b ? [] : sizes.keys()));
  const spent = ({ budget, size }) => seen[Number(budget)].add(size);
  state.draw(spent); // before the picture shows what has been seen
  const picture = stage(
    state,
    "What is reached, over the size of the model",
    (root, width, value) => build(root, width, data, value, seen),
    { key: ({ bare }) => String(bare) },
  );
  const average = (b, i) => mean(gaps[b].map((run) => run[i]));
  const lowest = budgets.map((_, b) => {
    const row = sizes.map((_, i) => average(b, i));
    return row.indexOf(Math.min(...row));
  });
  const complete = () => seen.every((row) => row.size === sizes.length);
  const exponent = (values) =>
    Math.log(values.at(-1) / values[0]) / Math.log(budgets.at(-1) / budgets[0]);
  const tell = ({ budget: chosen, size, bare }, all = complete()) => {
    const budget = Number(chosen);
    const run = `${billions(budgets[budget])} operations buy ${sizes[size].toLocaleString("en")} parameters ${steps[budget][size].toLocaleString("en")} steps: ${format(average(budget, size))} nats above the entropy.`;
    const found = bare ? bareBest : best;
    return all
      ? `${run} The best sizes, ${found.map(thousands).join(", ")}, grow like the budget to the power ${format(exponent(found))}.`
      : run;
  };
  const say = announce(state, (value) => tell(value), [tell({ ...state.value, bare: true }, true)]);
  const puzzles = goals(state, [
    ...budgets.slice(1).map((budget, i) => ({
      text: `Spend ${billions(budget)} so that the model ends nearest to the entropy.`,
      reached: (value) => value.budget === String(i + 1) && value.size === lowest[i + 1],
    })),
    {
      text: "Complete all the valleys, then leave the embedding out of the count.",
      reached: ({ bare }) => bare && complete(),
    },
  ]);
  frame(
    el,
    "Spend a budget",
    element(
      "div",
      { class: "cl-controls" },
      tabs(
        state,
        "budget",
        "operations",
        budgets.map((budget, b) => [String(b), billions(budget)]),
      ),
      slider(state, "size", "parameters", {
        min: 0,
        max: sizes.length - 1,
        describe: (i) => sizes[i].toLocaleString("en"),
      }),
      toggle(state, "bare", "count without the embedding"),
    ),
    picture,
    say,
    puzzles,
  );
  return state.close;
}

export default { render };
