// The roofline: how many operations a computation makes of every byte it moves, and so how fast it can
// be at most. Points are parts of a model that reads or writes; the reader moves what they depend on.

import { axes } from "../kit/axes.js";
import { choice, connect, remember, slider } from "../kit/controls.js";
import { announce, css, drawing, element, fill, format, frame, write } from "../kit/dom.js";
import { goals } from "../kit/goals.js";
import { clamp } from "../kit/numerics.js";
import { label, part, stage } from "../kit/stage.js";
import { columnHead, headRow, tableRow } from "../kit/tables.js";

const HEADS = 32; // query heads; the model is this many heads wide
const BLOCK = 128; // queries in a tile
const X = [0.4, 20000], // operations per byte
  Y = [0.8, 2000]; // tera-operations per second

css`
  .cl-roof-controls {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr));
    gap: 0.2rem 1.2rem;
    margin: -0.4rem 0 0.4rem;
  }
  .cl-roof-controls :is(select, input[type="range"]) {
    width: 100%;
    min-height: 1.7rem;
    padding-block: 0.1rem;
  }
  .cl-roof-points :is(td, th) {
    padding-block: 0;
    font-size: 0.84rem;
  }
  .cl-roof-points ~ .cl-goals ul {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr));
  }
  .cl-roof-points ~ .cl-captions .cl-say {
    margin-top: 0.4rem;
  }
`;

/** What each operation computes and moves: numbers of one head, or of one matrix of a layer. A block of
    queries has all keys and values come from the large memory again (T), or finds them in a cache on the
    chip once they have come (T*): real kernels lie between. */
function operations({ n, d, batch, group }, parts) {
  const width = HEADS * d;
  const matrix = (rows) => ({ flops: 2 * rows * width ** 2, moved: width ** 2 + 2 * rows * width });
  const all = [
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
      text: `tiles of ${BLOCK}, keys fetched for each`,
      flops: 4 * n * n * d,
      moved: 2 * n * d + 2 * n * d * Math.ceil(n / BLOCK),
    },
    { name: "T*", text: "tiles, keys fetched once", flops: 4 * n * n * d, moved: 4 * n * d },
    {
      name: "C",
      text: "attention, writing from the cache",
      flops: 4 * group * n * d,
      moved: 2 * n * d + 2 * group * d,
    },
  ];
  return all.filter(({ name }) => parts.includes(name));
}

/** The same with the device: intensity, most tera-operations per second, share of its peak. */
function placed({ devices, parts }, value) {
  const device = devices[value.device],
    peak = device.peak[value.dtype],
    bytes = value.dtype === "float32" ? 4 : 2;
  const points = operations(value, parts).map((operation) => {
    const intensity = operation.flops / (operation.moved * bytes);
    const reached = Math.min(peak, intensity * device.bandwidth);
    return { ...operation, intensity, reached, share: reached / peak };
  });
  return { points, peak, bandwidth: device.bandwidth, ridge: peak / device.bandwidth };
}

function build(root, width, names, all, published) {
  const [left, right, top, bottom] = [44, width - 12, 8, 179];
  const ticks = [1, 10, 100, 1000];
  const far = [...ticks, 10000];
  const thousands = (number) => number.toLocaleString("en");
  const { x: across, y: up } = axes(
    root,
    { left, right, top, bottom },
    {
      x: { first: X[0], last: X[1], log: true, ticks: far, lines: true, text: thousands },
      y: { first: Y[0], last: Y[1], log: true, ticks, text: thousands },
    },
  );
  const x = (intensity) => across(clamp(intensity, ...X)),
    y = (speed) => up(clamp(speed, ...Y));
  root.append(
    label("operations per byte moved (arithmetic intensity)", (left + right) / 2, bottom + 34),
    label("TFLOP/s", left + 4, top + 4, "cl-start cl-quiet"),
  );
  const roof = drawing("path", { class: "cl-line", "stroke-width": 2.5 }),
    drop = drawing("path", { class: "cl-line", "stroke-dasharray": "3 4" });
  const ridge = label("", 0, 0, "cl-strong cl-start");
  // the same tiles, from no cache to a perfect one: a stretch of the roof
  const stretch = drawing("path", { class: "cl-edge", style: "stroke-width: 7px; opacity: 0.45" });
  root.append(roof, drop, ridge, drawing("g", { class: "cl-attention" }, stretch));
  // what a kernel was measured at; its bytes are not published, so it lies somewhere on a line
  const diamond = { class: "cl-tip", d: "M-5 0L0 -5L5 0L0 5Z" };
  const dot = drawing("path", { ...diamond, "data-name": "published" }),
    where = drawing("path", { class: "cl-edge", "stroke-dasharray": "2 3" }),
    says = label("", 0, 0, "cl-own cl-end");
  const measured = drawing("g", { class: "cl-measure" }, where, dot, says);
  root.append(measured);
  const points = names.map((name) => {
    const kind = { P: "stream", W: "stream", C: "k" }[name] ?? "attention";
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
    const ends = now.points.filter(({ name }) => name === "T" || name === "T*");
    if (ends.length === 2) {
      const over = [...ends.map(({ intensity }) => intensity), now.ridge]
        .filter((one) => one >= ends[0].intensity && one <= ends[1].intensity)
        .sort((a, b) => a - b);
      const places = over.map((one) => `${x(one)} ${y(Math.min(now.peak, one * now.bandwidth))}`);
      stretch.setAttribute("d", `M${places.join("L")}`);
    }
    const kernel = published(value);
    measured.style.display = kernel ? "" : "none";
    if (kernel) {
      const [from, to] = [kernel.speed / now.bandwidth, kernel.n / 2].map(x);
      where.setAttribute("d", `M${from} ${y(kernel.speed)}H${to}`);
      dot.setAttribute("transform", `translate(${(from + to) / 2} ${y(kernel.speed)})`);
      says.textContent = `◆ ${kernel.name}, measured: ${kernel.speed}`;
      fill(says, { x: right, y: y(kernel.speed) + 76 }, []);
    }
    // letters hang below their points, and lower where others hang; that of the cache stands above
    const hung = [];
    now.points.forEach(({ name, intensity, reached }, i) => {
      const place = { x: x(intensity), y: y(reached) + (name === "C" ? -17 : 17) };
      while (hung.some((other) => Math.hypot(other.x - place.x, other.y - place.y) < 20)) {
        place.y += 5;
      }
      hung.push(place);
      points[i].exact.to({ x: x(intensity), y: y(reached) }, { jump, ms: 250 });
      points[i].letter.to(place, { jump, ms: 250 });
    });
  }
  return { height: bottom + 38, pose };
}

function render({ model, el }) {
  const { devices, parts } = model.get("data");
  const has = (name) => parts.includes(name);
  const state = connect(model);
  const all = remember((value) => placed({ devices, parts }, value));
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
    { class: "cl-controls cl-roof-controls" },
    choice(state, "device", "device", Object.keys(devices)),
    choice(state, "dtype", "numbers", ["bfloat16", "float32"]),
    power("n", "tokens n", 17, 5),
    has("W") ? power("batch", "batch of texts", 10) : null,
    power("d", "width of a head", 8, 5),
    has("C") ? power("group", "queries per key", 4) : null,
  );
  const published = ({ device, dtype }) => dtype === "bfloat16" && devices[device].published;
  const scene = stage(state, "Roofline", (root, width) =>
    build(root, width, parts, result, published),
  );

  const cell = (name) => element("td", { "data-name": name });
  const rows = parts.map(() => ["intensity", "reached", "share"].map(cell));
  state.draw((value) =>
    result(value).points.forEach(({ intensity, reached, share }, i) => {
      write(rows[i][0], intensity, intensity < 100 ? 1 : 0);
      write(rows[i][1], reached, reached < 100 ? 1 : 0);
      write(rows[i][2], share * 100, share < 0.1 ? 1 : 0);
    }),
  );
  const table = element(
    "table",
    { class: "cl-counts cl-roof-points" },
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
  const listed = (list) => list.map(({ name }) => name).join(", ") || "none";
  const sentence = (ridge, below, under) =>
    `Ridge: ${format(ridge, 0)}. Memory decides the speed of ${listed(below)}; ` +
    `arithmetic that of ${listed(under)}.`;
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
  const puzzles = [
    has("W") && {
      text: "Bring W under the flat roof.",
      reached: (value) => point(value, "W").share === 1,
    },
    has("C") && {
      text: "Bring C above 4 per byte, in bfloat16.",
      reached: (value) => value.dtype === "bfloat16" && point(value, "C").intensity > 4,
    },
    has("T*") && {
      text: "Find the longest text for which memory decides even the speed of T*.",
      reached: (value) =>
        point(value, "T*").share < 1 &&
        point({ ...value, log_n: value.log_n + 1 }, "T*").share === 1,
    },
    has("S") &&
      has("T") && {
        text: "Bring S within a tenth of T.",
        reached: (value) => point(value, "S").intensity > 0.9 * point(value, "T").intensity,
      },
  ].filter(Boolean);
  frame(el, "A roofline", controls, scene, table, caption, goals(state, puzzles));
  return state.close;
}

export default { render };
