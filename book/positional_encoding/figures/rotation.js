// A query and a key, each turned by its position: the angle between them depends on i − j only.

import { button, choice, connect, slider } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, paint, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { dot, norm } from "../../page/kit/numerics.js";
import { angle } from "../../page/kit/sinusoids.js";

const LENGTH = 64; // positions to choose from
const SIZE = 320,
  RADIUS = 138; // of the longer arrow

const turned = ([x, y], by) => [
  x * Math.cos(by) - y * Math.sin(by),
  x * Math.sin(by) + y * Math.cos(by),
];

/** A line from the middle to a point, and for a turned vector its tip and its letter. */
function vector([x, y], { kind, name, dashes }) {
  const turn = (Math.atan2(y, x) * 180) / Math.PI,
    far = 1 + 16 / Math.hypot(x, y);
  const line = { x1: 0, y1: 0, x2: x, y2: y, stroke: "var(--tone)", "stroke-dasharray": dashes };
  if (!name)
    return drawing(
      "g",
      { class: `cl-${kind}` },
      drawing("line", { ...line, "stroke-width": 1.2, opacity: 0.6 }),
    );
  const tip = { d: "M2,0 L-10,-6 L-10,6 z", transform: `translate(${x} ${y}) rotate(${turn})` };
  const text = { x: x * far, y: y * far + 5, "text-anchor": "middle" };
  return drawing(
    "g",
    { class: `cl-${kind}` },
    drawing("line", { ...line, "stroke-width": 3 }),
    drawing("path", { ...tip, fill: "var(--tone)" }),
    drawing("text", { ...text, style: "font-weight: 650; fill: var(--word)" }, name),
  );
}

function render({ model, el }) {
  const { query, key, d_k: width } = model.get("data");
  const state = connect(model);
  const pairOf = ({ i, j, pair }) => [
    turned(query, angle(i, pair, width)),
    turned(key, angle(j, pair, width)),
  ];
  const score = (value) => dot(...pairOf(value));

  const svg = drawing("svg"),
    middle = drawing("g", { transform: `translate(${SIZE / 2} ${SIZE / 2})` });
  const scale = RADIUS / Math.max(norm(query), norm(key));
  const drawn = ([x, y]) => [x * scale, -y * scale]; // up is positive
  state.draw((value) => {
    const [q, k] = pairOf(value);
    middle.replaceChildren(
      drawing("circle", { r: RADIUS, fill: "none", stroke: "var(--line)" }),
      drawing("line", { x1: -RADIUS, x2: RADIUS, stroke: "var(--line)" }),
      drawing("line", { y1: -RADIUS, y2: RADIUS, stroke: "var(--line)" }),
      vector(drawn(query), { kind: "q" }),
      vector(drawn(key), { kind: "k", dashes: "4 4" }),
      vector(drawn(q), { kind: "q", name: "q" }),
      vector(drawn(k), { kind: "k", name: "k", dashes: "8 3" }),
    );
    paint(svg, SIZE, SIZE, "A query and a key, turned by their positions", [middle]);
  });

  const number = (name, draw) => {
    const node = element("b", { "data-name": name });
    state.draw((value) => write(node, draw(value), 4));
    return node;
  };
  const apart = element("span");
  state.draw(({ i, j }) => {
    apart.textContent = `i \u2212 j = ${format(i - j, 0)}`;
  });
  const text = element(
    "p",
    {},
    apart,
    element("br"),
    "Turned q · turned k = ",
    number("product", score),
    element("br"),
    "Not turned (thin lines): ",
    number("unturned", () => dot(query, key)),
  );

  const most = LENGTH - 1;
  const sliders = [
    slider(state, "i", "query at i =", { min: 0, max: most }),
    slider(state, "j", "key at j =", { min: 0, max: most }),
  ];
  const pairs = Array.from({ length: width / 2 }, (_, pair) => [
    pair,
    `${2 * pair}, ${2 * pair + 1}: turns by ${angle(1, pair, width)}`,
  ]);
  const later = button(
    state,
    "Both one position later",
    ({ i, j }) => ({ i: Math.min(most, i + 1), j: Math.min(most, j + 1) }),
    {
      name: "later",
      draw: (node, { i, j }) => {
        node.disabled = Math.max(i, j) >= most;
      },
    },
  );
  const beside = element(
    "div",
    { style: "flex: 1 1 15rem" },
    element(
      "div",
      { class: "cl-controls" },
      choice(state, "pair", "pair of entries", pairs),
      later,
    ),
    text,
  );
  const tell = (value) =>
    `i \u2212 j = ${format(value.i - value.j, 0)}: the product is ${format(score(value), 4)}. Move both by the same number of positions, and it stays the same.`;
  const puzzles = goals(state, [
    {
      text: "Carry the query to position 40 without changing the product (pair 0, 1).",
      reached: ({ i, j, pair }) => pair === 0 && i === 40 && j === 37,
    },
    {
      text: "Make the product as large as it can get, to within one per cent.",
      reached: (value) => score(value) > 0.99 * norm(query) * norm(key),
    },
  ]);
  frame(
    el,
    "A query and a key, turned",
    element("div", { class: "cl-controls" }, sliders),
    element("div", { class: "cl-side", style: "align-items: center" }, svg, beside),
    announce(state, tell, [tell({ i: 0, j: most, pair: 0 })]),
    puzzles,
  );
  return state.close;
}

export default { render };
