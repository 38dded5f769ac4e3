// The roofline: how many operations a computation makes of every byte it moves, and so how fast it can
// be at most. Points are parts of a model that reads or writes; the reader moves what they depend on.

import { axes } from "../../page/kit/axes.js";
import { choice, connect, remember, slider } from "../../page/kit/controls.js";
import { announce, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp } from "../../page/kit/numerics.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { columnHead, headRow, tableRow } from "../../page/kit/tables.js";

const HEADS = 32; // query heads; the model is this many heads wide
const BLOCK = 128; // queries in a tile
const X = [0.25, 4096], // operations per byte
  Y = [0.3, 2000]; // tera-operations per second

/** What each operation computes and moves: numbers of one head, or of one matrix of a layer. */
function operations({ n, d, batch, group }) {
  const width = HEADS * d;
  const matrix = (rows) => ({ flops: 2 * rows * width ** 2, moved: width ** 2 + 2 * rows * width });
  return [
    { name: "P", text: "matrices, reading a prompt", ...matrix(batch * n) },
    { name: "W", text: "matrices, writing a token", ...matrix(batch) },
    {
      name: "S",
      text: "attention, whole table",
      flops: 4 * n * n * d,
      moved: 4 * n * n + 4 * n * d,
    },
    {
      name: "T",
      text: `attention, tiles of ${BLOCK}`,
      flops: 4 * n * n * d,
      moved: 2 * n * d + 2 * n * d * Math.ceil(n / BLOCK),
    },
    {
      name: "C",
      text: "attention, writing from the cache",
      flops: 4 * group * n * d,
      moved: 2 * n * d + 2 * group * d,
    },
  ];
}

/** The same with the device: intensity, most tera-operations per second, share of its peak. */
function placed(devices, value) {
  const device = devices[value.device],
    peak = device.peak[value.dtype],
    bytes = value.dtype === "float32" ? 4 : 2;
  const points = operations(value).map((operation) => {
    const intensity = operation.flops / (operation.moved * bytes);
    const reached = Math.min(peak, intensity * device.bandwidth);
    return { ...operation, intensity, reached, share: reached / peak };
  });
  return { points, peak, bandwidth: device.bandwidth, ridge: peak / device.bandwidth };
}

function build(root, width, all) {
  const [left, right, top, bottom] = [44, width - 12, 14, 250];
  const ticks = [1, 10, 100, 1000];
  const { x: across, y: up } = axes(
    root,
    { left, right, top, bottom },
    {
      x: { first: X[0], last: X[1], log: true, ticks, lines: true },
      y: { first: Y[0], last: Y[1], log: true, ticks },
    },
  );
  const x = (intensity) => across(clamp(intensity, ...X)),
    y = (speed) => up(clamp(speed, ...Y));
  root.append(
    label("operations per byte moved (arithmetic intensity)", (left + right) / 2, bottom + 36),
    label("TFLOP/s", left + 4, top + 4, "cl-start cl-quiet"),
  );
  const roof = drawing("path", { class: "cl-line", "stroke-width": 2.5 }),
    drop = drawing("path", { class: "cl-line", "stroke-dasharray": "3 4" });
  const ridge = label("", 0, 0, "cl-strong cl-start");
  root.append(roof, drop, ridge);
  const points = operations({ n: 1, d: 1, batch: 1, group: 1 }).map(({ name }) => {
    const kind = { P: "stream", W: "stream", S: "attention", T: "attention", C: "k" }[name];
    const node = drawing(
      "g",
      { class: `cl-${kind}` },
      drawing("circle", { class: "cl-paper", r: 10 }),
      drawing("circle", { class: "cl-edge", r: 10, style: "stroke-width: 2.5px" }),
      label(name, 0, 4.5, "cl-strong"),
    );
    const dot = drawing("circle", { class: "cl-tip", r: 3.5 });
    const exact = part(root, drawing("g", { class: `cl-${kind}` }, dot), { x: left, y: bottom });
    return { exact, letter: part(root, node, { x: left, y: bottom }) };
  });
  function pose(value, { jump }) {
    const now = all(value);
    const start = `M${x(X[0])} ${y(X[0] * now.bandwidth)}`;
    roof.setAttribute("d", `${start}L${x(now.ridge)} ${y(now.peak)}H${right}`);
    drop.setAttribute("d", `M${x(now.ridge)} ${y(now.peak)}V${bottom}`);
    ridge.textContent = `ridge: ${format(now.ridge, 0)}`;
    fill(ridge, { x: x(now.ridge) + 6, y: bottom - 8 }, []);
    // letters hang below their points, and lower where others hang
    const hung = [];
    now.points.forEach(({ intensity, reached }, i) => {
      const place = { x: x(intensity), y: y(reached) + 17 };
      while (hung.some((other) => Math.hypot(other.x - place.x, other.y - place.y) < 20)) {
        place.y += 5;
      }
      hung.push(place);
      points[i].exact.to({ x: x(intensity), y: y(reached) }, { jump, ms: 250 });
      points[i].letter.to(place, { jump, ms: 250 });
    });
  }
  return { height: bottom + 44, pose };
}

function render({ model, el }) {
  const { devices } = model.get("data");
  const state = connect(model);
  const all = remember((value) => placed(devices, value));
  const power = (key, label, max, min = 0) =>
    slider(state, `log_${key}`, label, {
      min,
      max,
      describe: (exponent) => (2 ** exponent).toLocaleString("en"),
    });
  const numbers = (value) => ({
    ...value,
    n: 2 ** value.log_n,
    d: 2 ** value.log_d,
    batch: 2 ** value.log_batch,
    group: 2 ** value.log_group,
  });
  const result = (value) => all(numbers(value));
  const controls = element(
    "div",
    { class: "cl-controls" },
    choice(state, "device", "device", Object.keys(devices)),
    choice(state, "dtype", "numbers", ["bfloat16", "float32"]),
    power("n", "tokens n", 17, 5),
    power("batch", "batch (texts at once)", 10),
    power("d", "width of a head d", 8, 5),
    power("group", "query heads per key head", 4),
  );
  const scene = stage(state, "Roofline", (root, width) => build(root, width, result));

  const cell = (name) => element("td", { "data-name": name });
  const rows = result(state.value).points.map(() => ["intensity", "reached", "share"].map(cell));
  state.draw((value) =>
    result(value).points.forEach(({ intensity, reached, share }, i) => {
      write(rows[i][0], intensity, intensity < 100 ? 1 : 0);
      write(rows[i][1], reached, reached < 100 ? 1 : 0);
      write(rows[i][2], share * 100, share < 0.1 ? 1 : 0);
    }),
  );
  const table = element(
    "table",
    { class: "cl-counts" },
    headRow(["", "operations per byte", "TFLOP/s at most", "% of peak"].map(columnHead)),
    element(
      "tbody",
      {},
      result(state.value).points.map(({ name, text }, i) =>
        tableRow(`${name}: ${text}`, ...rows[i]),
      ),
    ),
  );
  table.querySelectorAll("tbody th").forEach((head) => {
    head.style.whiteSpace = "normal";
  });
  const names = (list) => list.map(({ name }) => name).join(", ") || "none";
  const sentence = (ridge, below, under) =>
    `The ridge is at ${format(ridge, 0)} operations per byte. Below it memory decides: ` +
    `${names(below)}. Under the flat roof the arithmetic decides: ${names(under)}.`;
  const tell = (value) => {
    const { points, ridge, peak } = result(value);
    const below = points.filter(({ reached }) => reached < peak);
    return sentence(
      ridge,
      below,
      points.filter((point) => !below.includes(point)),
    );
  };
  const caption = announce(state, tell, [sentence(100, result(state.value).points, [])]);
  const point = (value, wanted) => result(value).points.find(({ name }) => name === wanted);
  const puzzles = goals(state, [
    {
      text: "Writing a token: bring the matrices (W) under the flat roof.",
      reached: (value) => point(value, "W").share === 1,
    },
    {
      text: "Writing from the cache: bring C above 4 operations per byte, in bfloat16.",
      reached: (value) => value.dtype === "bfloat16" && point(value, "C").intensity > 4,
    },
  ]);
  frame(el, "A roofline", controls, scene, table, caption, puzzles);
  return state.close;
}

export default { render };
