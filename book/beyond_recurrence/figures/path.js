// How far apart are two words? Steps through a chain of states, through layers of a convolution whose
// kernel covers a word and the k - 1 before it, and through one layer of self-attention.

import { choice, connect, slider } from "../../page/kit/controls.js";
import { announce, css, drawing, element, fill, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp } from "../../page/kit/numerics.js";
import { draggable } from "../../page/kit/stage.js";
import { columnHead, headRow, tableRow } from "../../page/kit/tables.js";

css`
  .cl-path :is(td, th) {
    padding-block: 0;
    font-size: 0.86rem;
  }
  .cl-controls:has(~ .cl-path) {
    margin: -0.4rem 0 0.5rem;
  }
  .cl-path ~ .cl-goals ul {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr));
  }
`;

/** Rows that a path walks, layer by layer, from a word to the one `distance` rows further down. */
const PATHS = {
  recurrent: (distance) => Array(distance).fill(1),
  stacked(distance, kernel) {
    const steps = [];
    for (let left = distance; left > 0; left -= kernel - 1) steps.push(Math.min(left, kernel - 1));
    return steps;
  },
  dilated(distance, kernel) {
    // layer l looks back by multiples of kernel^l: the digits of the distance
    const steps = [];
    for (
      let left = distance, stride = 1;
      left > 0;
      left = Math.floor(left / kernel), stride *= kernel
    ) {
      steps.push((left % kernel) * stride);
    }
    return steps;
  },
  attention: (distance) => [distance],
};

const ROW = 14,
  TOP = 36,
  LABELS = 92; // pixels
const KERNELS = [2, 3, 4, 5];

const middle = (row) => TOP + (row + 0.5) * ROW;
const frameOf = (row) => ({ x: 0, y: middle(row) - 7, width: LABELS - 14, height: 14, rx: 4 });

function draw(layer, width, words, value, steps) {
  const last = words.length - 1,
    from = last - value.distance;
  const y = middle;
  const panel = (width - LABELS) / 3;
  const node = (x, row, lit, r = lit ? 3.5 : 2) =>
    drawing("circle", {
      cx: x,
      cy: y(row),
      r,
      fill: lit ? "var(--first)" : "var(--line)",
    });
  const line = (x1, row1, x2, row2, lit) =>
    drawing("line", {
      x1,
      y1: y(row1),
      x2,
      y2: y(row2),
      stroke: lit ? "var(--first)" : "var(--line)",
      "stroke-width": lit ? 2.5 : 1,
    });
  const arrow = (x, row) =>
    drawing("path", { d: `M${x - 3.5},${y(row) - 8} h7 l-3.5,5 z`, fill: "var(--first)" });
  const parts = [];

  const titles = ["recurrent", "convolution", panel < 90 ? "attention" : "self-attention"];
  Object.values(steps).forEach((path, i) => {
    const x = LABELS + (i + 0.5) * panel;
    parts.push(
      drawing(
        "text",
        {
          x,
          y: 13,
          "text-anchor": "middle",
          class: "cl-quiet",
          style: `font-size: ${panel < 90 ? 11 : 13}px`,
        },
        titles[i],
      ),
      drawing(
        "text",
        { x, y: 31, "text-anchor": "middle", style: "font-size: 17px; font-weight: 600" },
        String(path.length),
      ),
    );
  });

  words.forEach((word, row) => {
    const lit = row === from || row === last;
    if (row === last) {
      const frame = { fill: "none", stroke: "var(--second)", "stroke-width": 1.5 };
      parts.push(drawing("rect", { ...frameOf(row), ...frame }));
    }
    parts.push(
      drawing(
        "text",
        {
          x: LABELS - 22,
          y: y(row) + 4,
          "text-anchor": "end",
          class: row < from ? "cl-quiet" : null,
          style: `font-size: 12px; font-weight: ${lit ? 600 : 400}`,
        },
        word,
      ),
    );
  });

  const chain = LABELS + 0.5 * panel; // one state after the other
  words.forEach((_, row) => {
    if (row < last) parts.push(line(chain, row, chain, row + 1, row >= from));
  });
  words.forEach((_, row) => parts.push(node(chain, row, row >= from)));
  for (let row = from + 1; row <= last; row++) parts.push(arrow(chain, row));

  const layers = steps.convolution.length; // one column of dots per layer
  const left = LABELS + panel * 1.16,
    gap = Math.min((panel * 0.68) / layers, 40);
  const start = left + (panel * 0.68 - gap * layers) / 2;
  for (let layer = 0; layer <= layers; layer++) {
    words.forEach((_, row) => parts.push(node(start + layer * gap, row, false, gap > 8 ? 1.8 : 1)));
  }
  let row = from;
  steps.convolution.forEach((step, layer) => {
    parts.push(line(start + layer * gap, row, start + (layer + 1) * gap, row + step, true));
    parts.push(node(start + layer * gap, row, true, 3.2));
    row += step;
  });
  parts.push(node(start + layers * gap, row, true, 4));

  const x = LABELS + 2 * panel + panel * 0.3; // arcs from every word to the last one
  const arc = (row, lit) =>
    drawing("path", {
      d: `M${x},${y(row)} C${x + panel * 0.62},${y(row)} ${x + panel * 0.62},${y(last)} ${x},${y(last)}`,
      fill: "none",
      stroke: lit ? "var(--first)" : "var(--line)",
      "stroke-width": lit ? 2.5 : 1,
    });
  words.forEach((_, row) => {
    if (row < last && row !== from) parts.push(arc(row, false));
  });
  words.forEach((_, row) => parts.push(node(x, row, row === from || row === last)));
  parts.push(arc(from, true));

  layer.replaceChildren(...parts);
}

function render({ model, el }) {
  const { words } = model.get("data"),
    last = words.length - 1;
  const state = connect(model);
  const paths = (value) => ({
    recurrent: PATHS.recurrent(value.distance),
    convolution: PATHS[value.convolution](value.distance, value.kernel),
    attention: PATHS.attention(value.distance),
  });

  const controls = element(
    "div",
    { class: "cl-controls" },
    slider(state, "distance", "distance", {
      min: 1,
      max: last,
      describe: (d) => `${d} ${d === 1 ? "word" : "words"}`,
    }),
    choice(state, "convolution", "convolution", [
      ["stacked", "layers stacked"],
      ["dilated", "dilated"],
    ]),
    choice(state, "kernel", "kernel width k", KERNELS),
  );

  const svg = drawing("svg", {
    role: "group",
    "aria-label": "The path between the two words, in three kinds of layer",
    "data-lm-suppress-shortcuts": true,
  });
  const layer = drawing("g", {}),
    edge = drawing("rect", {
      class: "cl-hit cl-knob",
      stroke: "var(--first)",
      "stroke-width": 1.5,
    }),
    grip = drawing("text", { x: LABELS - 11, class: "cl-quiet" }, "↕"),
    reach = drawing("path", { class: "cl-hit" }), // for a finger
    handle = drawing("g", {}, reach, edge, grip);
  svg.append(layer, handle);
  const picture = element("div", { class: "cl-scroll" }, svg);
  const go = (distance) => state.set({ distance: clamp(distance, 1, last) });
  const { say: spell } = draggable(svg, handle, {
    name: "where the path begins",
    move: (_, y) => go(last - Math.floor((y - TOP) / ROW)),
    nudge: (_, up) => go(state.value.distance + up),
  });
  handle.style.cursor = "ns-resize";
  fill(handle, { "aria-valuemin": 1, "aria-valuemax": last }, []);

  const rows = { recurrent: "recurrent", convolution: "convolution", attention: "self-attention" };
  const counts = Object.fromEntries(
    Object.keys(rows).map((kind) => [kind, element("td", { "data-name": kind })]),
  );
  const order = element("td", { style: "min-width: 4.8rem" });
  const perLayer = { recurrent: words.length, convolution: 1, attention: 1 };
  const table = element(
    "table",
    { class: "cl-counts cl-path" },
    headRow(
      [
        "layer",
        "path between the words",
        "in the paper, at most",
        "steps in a row (a sum is one)",
      ].map(columnHead),
    ),
    element(
      "tbody",
      {},
      Object.entries(rows).map(([kind, text]) =>
        tableRow(
          text,
          counts[kind],
          kind === "convolution"
            ? order
            : element("td", {}, kind === "attention" ? "O(1)" : "O(n)"),
          write(element("td", { "data-name": `${kind}-layer` }), perLayer[kind], 0),
        ),
      ),
    ),
  );
  state.draw((value) => {
    for (const [kind, path] of Object.entries(paths(value))) write(counts[kind], path.length, 0);
    order.textContent = value.convolution === "dilated" ? "O(logₖ\u00a0n)" : "O(n/k)";
  });

  state.drawWide(picture, (value, width) => {
    const height = TOP + words.length * ROW,
      from = last - value.distance;
    fill(svg, { viewBox: `0 0 ${width} ${height}`, width, height }, []);
    draw(layer, width, words, value, paths(value));
    fill(edge, frameOf(from), []);
    reach.setAttribute("d", `M0 ${middle(from) - 12}h${LABELS - 14}v24H0z`);
    grip.setAttribute("y", middle(from) + 4);
    spell(words[from], value.distance);
  });

  const steps = (path, one, many) => `${path.length} ${path.length === 1 ? one : many}`;
  const say = announce(state, (value) => {
    const path = paths(value);
    return (
      `From “${words[last - value.distance]}” to “${words[last]}”: ` +
      `${steps(path.recurrent, "step", "steps")}, ` +
      `${steps(path.convolution, "layer", "layers")} of convolution, ` +
      `${path.attention.length} of attention.`
    );
  });
  const widest = Math.max(...KERNELS);
  const puzzles = goals(state, [
    {
      text: "Any k: the farthest word in one layer.",
      reached: ({ kernel, distance }) => kernel === widest && distance === widest - 1,
    },
    {
      text: `Join the first word to “${words[last]}” by two layers.`,
      reached: (value) => value.distance === last && paths(value).convolution.length === 2,
    },
  ]);
  frame(el, "The path between two words", controls, picture, table, say, puzzles);
  return state.close;
}

export default { render };
