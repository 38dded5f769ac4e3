// Three views of positions: the waves, how alike two positions are, and rotation.

import { button, choice, connect, slider, tabs } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, paint, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { dot, norm } from "../../page/kit/numerics.js";
import { angle, sinusoid } from "../../page/kit/sinusoids.js";
import { matrixTable } from "../../page/kit/tables.js";

const turned = ([x, y], by) => [
  x * Math.cos(by) - y * Math.sin(by),
  x * Math.sin(by) + y * Math.cos(by),
];

const LENGTH = 64; // positions drawn
const MOST_ROWS = 8; // pairs of columns drawn
const curve = (points) =>
  "M" + points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" L");

/** Sine and cosine of every pair of columns over the positions, and their values at one position. */
function waves() {
  const svg = drawing("svg"),
    picture = element("div", {}, svg);
  const redraw = ({ d_model: columns, position }, width) => {
    const rows = Math.min(columns / 2, MOST_ROWS);
    const row = (40 * MOST_ROWS) / rows, // few waves are taller: the picture keeps its height
      left = width < 400 ? 54 : 74,
      right = 108,
      top = 26,
      height = top + rows * row + 24;
    const x = (at) => left + (at / (LENGTH - 1)) * (width - left - right);
    const numbers = sinusoid(position, columns),
      parts = [];
    parts.push(
      drawing("text", { x: 0, y: 12, class: "cl-quiet", style: "font-size: 12px" }, "columns"),
    );
    parts.push(
      drawing(
        "text",
        { x: width - 8, y: 12, "text-anchor": "end", class: "cl-quiet", style: "font-size: 12px" },
        "sin, cos",
      ),
    );
    for (let line = 0; line < rows; line++) {
      const pair = Math.round((line * (columns / 2 - 1)) / (rows - 1)); // evenly chosen
      const middle = top + (line + 0.5) * row,
        y = (value) => middle - value * (row / 2 - 5);
      const wave = (f) =>
        curve(
          Array.from({ length: 4 * LENGTH - 3 }, (_, i) => [
            x(i / 4),
            y(f(angle(i / 4, pair, columns))),
          ]),
        );
      parts.push(
        drawing("line", {
          x1: left,
          x2: width - right,
          y1: middle,
          y2: middle,
          stroke: "var(--line)",
        }),
        drawing("path", {
          d: wave(Math.sin),
          fill: "none",
          stroke: "var(--first)",
          "stroke-width": 2,
        }),
        drawing("path", {
          d: wave(Math.cos),
          fill: "none",
          stroke: "var(--second)",
          "stroke-width": 1.6,
          "stroke-dasharray": "5 3",
        }),
        drawing("text", { x: 0, y: middle + 4 }, `${2 * pair}, ${2 * pair + 1}`),
      );
      ["var(--first)", "var(--second)"].forEach((color, odd) => {
        const value = numbers[2 * pair + odd];
        parts.push(drawing("circle", { cx: x(position), cy: y(value), r: 4, fill: color }));
        parts.push(
          write(
            drawing("text", {
              x: width - (odd ? 2 : 52),
              y: middle + 4,
              "text-anchor": "end",
              style: "font-variant-numeric: tabular-nums",
              "data-name": `wave-${2 * pair + odd}`,
            }),
            value,
          ),
        );
      });
    }
    const end = top + rows * row;
    parts.push(
      drawing("line", {
        x1: x(position),
        x2: x(position),
        y1: top - 6,
        y2: end,
        stroke: "var(--ink)",
      }),
    );
    parts.push(
      drawing(
        "text",
        { x: x(position), y: end + 17, "text-anchor": "middle" },
        `position ${position}`,
      ),
    );
    paint(
      svg,
      width,
      height,
      `Sine (solid) and cosine (dashed) of ${rows} of ${columns / 2} pairs of columns`,
      parts,
    );
  };
  return {
    parts: [picture],
    redraw,
    picture,
  };
}

/** Dot product of the encodings of a position and of every other one. */
function similarity(state) {
  const svg = drawing("svg"),
    picture = element("div", {}, svg);
  const redraw = ({ d_model: columns, position }, width) => {
    const here = sinusoid(position, columns);
    const height = 210,
      left = 40,
      right = 10,
      top = 12,
      bottom = 36,
      half = columns / 2;
    const all = Array.from({ length: LENGTH }, (_, at) => dot(here, sinusoid(at, columns)));
    const x = (at) => left + (at / (LENGTH - 1)) * (width - left - right);
    const y = (value) => top + ((half - value) / (2 * half)) * (height - top - bottom);
    const parts = [half, 0, -half].flatMap((value) => [
      drawing("line", {
        x1: left,
        x2: width - right,
        y1: y(value),
        y2: y(value),
        stroke: "var(--line)",
      }),
      drawing(
        "text",
        { x: left - 8, y: y(value) + 4, "text-anchor": "end", class: "cl-quiet" },
        format(value, 0),
      ),
    ]);
    parts.push(
      drawing("path", {
        d: curve(all.map((value, at) => [x(at), y(value)])),
        fill: "none",
        stroke: "var(--first)",
        "stroke-width": 2,
      }),
    );
    parts.push(
      drawing("line", {
        x1: x(position),
        x2: x(position),
        y1: top,
        y2: height - bottom,
        stroke: "var(--ink)",
      }),
    );
    parts.push(drawing("circle", { cx: x(position), cy: y(half), r: 4.5, fill: "var(--first)" }));
    parts.push(
      drawing(
        "text",
        { x: x(position), y: height - 16, "text-anchor": "middle" },
        `position ${position}`,
      ),
    );
    paint(svg, width, height, `Dot product of position ${position} with every position`, parts);
  };
  const distances = [1, 2, 4, 8, 16, 32];
  const table = matrixTable(
    state,
    "dot product with the position so many places later",
    ["product"],
    distances.map(String),
    (value) => [
      distances.map((distance) =>
        dot(
          sinusoid(value.position, value.d_model),
          sinusoid(value.position + distance, value.d_model),
        ),
      ),
    ],
    { name: "similarity" },
  );
  return {
    parts: [picture, element("div", { class: "cl-scroll", style: "margin-top: .6rem" }, table)],
    redraw,
    picture,
  };
}

/** One pair of entries of a query and a key, turned by their positions. */
function rotation(state, { query, key, d_k: width }) {
  const svg = drawing("svg"),
    middle = drawing("g", { transform: "translate(120 120)" });
  const product = element("b", { "data-name": "product" }),
    plain = element("span", { "data-name": "unturned" });
  const text = element("p", {});
  const redraw = ({ i, j, pair }) => {
    const q = turned(query, angle(i, pair, width)),
      k = turned(key, angle(j, pair, width));
    const longest = Math.max(Math.hypot(...query), Math.hypot(...key)),
      scale = 96 / longest;
    const vector = ([x, y], color, dashes, name) => {
      const [px, py] = [x * scale, -y * scale],
        turn = (Math.atan2(py, px) * 180) / Math.PI;
      return [
        drawing("line", {
          x1: 0,
          y1: 0,
          x2: px,
          y2: py,
          stroke: color,
          "stroke-width": 2.5,
          "stroke-dasharray": dashes,
        }),
        drawing("path", {
          d: "M2,0 L-8,-5 L-8,5 z",
          fill: color,
          transform: `translate(${px} ${py}) rotate(${turn})`,
        }),
        drawing(
          "text",
          {
            x: px * 1.13,
            y: py * 1.13 + 4,
            "text-anchor": "middle",
            style: "font-weight: 600; font-style: italic",
          },
          name,
        ),
      ];
    };
    middle.replaceChildren(
      drawing("circle", { r: 96, fill: "none", stroke: "var(--line)" }),
      drawing("line", { x1: -104, x2: 104, stroke: "var(--line)" }),
      drawing("line", { y1: -104, y2: 104, stroke: "var(--line)" }),
      ...[
        [query, "var(--first)"],
        [key, "var(--second)"],
      ].map(([[x, y], color]) =>
        drawing("line", {
          x1: 0,
          y1: 0,
          x2: x * scale,
          y2: -y * scale,
          stroke: color,
          "stroke-width": 1,
          opacity: 0.5,
        }),
      ),
      ...vector(q, "var(--first)", null, "q"),
      ...vector(k, "var(--second)", "6 3", "k"),
    );
    paint(svg, 240, 240, "A query and a key, turned by their positions", [middle]);
    write(product, dot(q, k), 4);
    write(plain, dot(query, key), 4);
    text.replaceChildren(
      `query at i = ${i}, key at j = ${j}: i \u2212 j = ${format(i - j, 0)}.`,
      element("br"),
      "Turned q · turned k = ",
      product,
      element("br"),
      "(not turned: ",
      plain,
      ")",
    );
  };
  const later = button(
    state,
    "Both one place later",
    ({ i, j }) => ({ i: Math.min(LENGTH - 1, i + 1), j: Math.min(LENGTH - 1, j + 1) }),
    {
      name: "later",
      draw: (node, { i, j }) => {
        node.disabled = Math.max(i, j) >= LENGTH - 1;
      },
    },
  );
  const controls = element(
    "div",
    { class: "cl-controls" },
    slider(state, "i", "position of the query, i =", { min: 0, max: LENGTH - 1 }),
    slider(state, "j", "position of the key, j =", { min: 0, max: LENGTH - 1 }),
    choice(
      state,
      "pair",
      "pair of entries",
      Array.from({ length: width / 2 }, (_, pair) => [
        pair,
        `${2 * pair}, ${2 * pair + 1}: turns by ${angle(1, pair, width)}`,
      ]),
    ),
    later,
  );
  return {
    parts: [
      controls,
      element("div", { class: "cl-side", style: "align-items: center" }, svg, text),
    ],
    redraw,
    picture: svg,
  };
}

function render({ model, el }) {
  const state = connect(model);
  const views = {
    waves: waves(),
    similarity: similarity(state),
    rotation: rotation(state, model.get("data")),
  };
  const shared = element(
    "div",
    { class: "cl-controls" },
    slider(state, "d_model", "columns, d_model =", { min: 4, max: 128, step: 4 }),
    slider(state, "position", "position", { min: 0, max: LENGTH - 1 }),
  );
  const panels = Object.fromEntries(
    Object.entries(views).map(([name, { parts }]) => [
      name,
      element("div", { "data-view": name }, parts),
    ]),
  );
  const { rotation: turning, ...plain } = panels;
  const before = element(
    "div",
    {},
    shared,
    element("div", { class: "cl-stack" }, Object.values(plain)),
  );
  state.draw((value) => {
    before.hidden = value.view === "rotation";
    for (const [name, panel] of Object.entries(panels)) panel.hidden = name !== value.view;
  });
  for (const [name, { picture, redraw }] of Object.entries(views)) {
    let drawn; // once for every width, so that a panel has its height before it is shown
    state.drawWide(picture, (value, width) => {
      if (value.view === name || drawn !== width) redraw(value, width);
      drawn = width;
    });
  }
  const { query, key, d_k: width } = model.get("data");
  const score = ({ i, j, pair }) =>
    dot(turned(query, angle(i, pair, width)), turned(key, angle(j, pair, width)));
  const wave = (position, columns, numbers) =>
    `Position ${position} in ${columns} columns: ${numbers.map((x) => format(x)).join(", ")}${columns > 8 ? " …" : ""}`;
  const tell = ({ view, d_model: columns, position, i, j, pair }) => {
    if (view === "rotation") {
      return `i \u2212 j = ${format(i - j, 0)}: the product is ${format(score({ i, j, pair }), 4)}. Move both by the same number of positions, and it stays the same.`;
    }
    if (view === "similarity")
      return `Position ${position}: most like itself (${format(columns / 2, 0)}), and the curve is the same at every position.`;
    return wave(position, columns, sinusoid(position, columns).slice(0, 8));
  };
  const far = { ...state.value, position: LENGTH - 1, d_model: 128, i: 0, j: LENGTH - 1 };
  const say = announce(state, tell, [
    wave(LENGTH - 1, 128, Array(8).fill(-1)),
    ...Object.keys(views).map((view) => tell({ ...far, view })),
  ]);
  const puzzles = goals(state, [
    {
      text: "Rotation: carry the query to position 40 without changing the product (pair 0, 1).",
      reached: ({ view, i, j, pair }) => view === "rotation" && pair === 0 && i === 40 && j === 37,
    },
    {
      text: "Rotation: make the product as large as it can get, to within one per cent.",
      reached: (value) =>
        value.view === "rotation" && score(value) > 0.99 * norm(query) * norm(key),
    },
  ]);
  frame(
    el,
    "Three ways to look at positions",
    tabs(state, "view", "view", [
      ["waves", "waves"],
      ["similarity", "similarity"],
      ["rotation", "rotation"],
    ]),
    element("div", { class: "cl-stack" }, before, turning),
    say,
    puzzles,
  );
  return state.close;
}

export default { render };
