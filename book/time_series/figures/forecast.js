// The Lorenz system in three dimensions: from a start that the reader drags, the truth and a forecast.

import { choice, connect, remember, slider } from "../../page/kit/controls.js";
import {
  announce,
  drawing,
  element,
  fill,
  format,
  frame,
  paint,
  write,
} from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { encoderBlocks, layerNorm, linear } from "../../page/kit/networks.js";
import { add, clamp, dot } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";
import { draggable } from "../../page/kit/stage.js";
import { matrixTable } from "../../page/kit/tables.js";

const derivative = ([x, y, z]) => [10 * (y - x), x * (28 - z) - y, x * y - (8 / 3) * z];
const along = (state, h, rate) => state.map((s, i) => s + h * rate[i]);

/** companion.data.lorenz_path: `length` points `dt` apart, five Runge-Kutta steps between two. */
function follow(state, length, dt) {
  const points = [state],
    h = dt / 5;
  while (points.length < length) {
    for (let step = 0; step < 5; step++) {
      const k1 = derivative(state),
        k2 = derivative(along(state, h / 2, k1)),
        k3 = derivative(along(state, h / 2, k2)),
        k4 = derivative(along(state, h, k3));
      state = state.map((s, i) => s + (h / 6) * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]));
    }
    points.push(state);
  }
  return points;
}

/** companion.models.Forecaster with a horizon of 1: a window of points -> the next point. */
function forecast({ weights, depth, num_heads: numHeads, patch_size: patch, step_scale }, window) {
  const points = window.map((point, t) => [
    ...point,
    ...point.map((x, i) => (x - window[Math.max(t - 1, 0)][i]) / step_scale),
  ]);
  const patches = [];
  for (let t = 0; t < points.length; t += patch) patches.push(points.slice(t, t + patch).flat());
  const rows = add(linear(weights, "patch_embedding", patches), weights["positions.weight"]);
  const options = { numHeads, normFirst: true, activation: "gelu" };
  const { output } = encoderBlocks(weights, "blocks", depth, rows, options).at(-1);
  const read = layerNorm(weights, "final_norm", output).flatMap((row) => Array.from(row));
  const [moves] = linear(weights, "head", [read]);
  return window.at(-1).map((x, i) => x + step_scale * moves[i]);
}

/** What happens from a start: the points that the forecaster is shown, then truth and forecast, each
    beginning with the last point shown; `errors` in units of the spread, and how many are good. */
function unfold(data, { x, y, z, rival }) {
  const { mean, std, dt, window, steps, threshold } = data;
  const scaled = (point) => point.map((s, i) => (s - mean[i]) / std[i]);
  const restored = (point) => point.map((s, i) => s * std[i] + mean[i]);
  const path = follow([x, y, z], window + steps, dt);
  const truth = path.slice(window - 1);
  let said;
  if (rival === "twin") {
    const [first, ...others] = truth[0];
    said = follow([first + 0.1, ...others], steps + 1, dt);
  } else {
    const seen = path.slice(0, window).map(scaled);
    for (let step = 0; step < steps; step++) {
      seen.push(forecast(data, seen.slice(-window)).map((s) => clamp(s, -1000, 1000)));
    }
    said = seen.slice(window - 1).map(restored);
  }
  const errors = said.map((point, t) => {
    const [a, b] = [scaled(point), scaled(truth[t])];
    return Math.sqrt(a.reduce((sum, s, i) => sum + (s - b[i]) ** 2, 0) / a.length);
  });
  const bad = errors.findIndex((error) => !(error <= threshold));
  return { shown: path.slice(0, window), truth, said, errors, good: bad < 0 ? steps : bad - 1 };
}

const RIGHT = ({ turn }) => [Math.cos(turn), Math.sin(turn), 0];
const UP = ({ turn, tilt }) => [
  -Math.sin(turn) * Math.sin(tilt),
  Math.cos(turn) * Math.sin(tilt),
  Math.cos(tilt),
];
const radians = ({ turn, tilt }) => ({
  turn: (turn * Math.PI) / 180,
  tilt: (tilt * Math.PI) / 180,
});
const HEIGHT = 266;

/** From the system's coordinates to the picture's, seen from a side. */
function projection(width, value) {
  const side = radians(value),
    right = RIGHT(side),
    up = UP(side),
    scale = Math.min(width / 54, HEIGHT / 54);
  const place = ([x, y, z]) => [
    width / 2 + scale * dot(right, [x, y, z - 25]),
    HEIGHT / 2 - scale * dot(up, [x, y, z - 25]),
  ];
  return { place, right, up, scale };
}

/** A smooth curve through the points of a picture. */
const curve = (points) =>
  points
    .map((point, i) => {
      const to = (q) => q.map((s) => s.toFixed(1)).join(" ");
      if (i === 0) return `M${to(point)}`;
      const [before, after] = [
        points[Math.max(i - 2, 0)],
        points[Math.min(i + 1, points.length - 1)],
      ];
      const last = points[i - 1];
      const leave = last.map((s, k) => s + (point[k] - before[k]) / 6);
      const arrive = point.map((s, k) => s - (after[k] - last[k]) / 6);
      return `C${to(leave)} ${to(arrive)} ${to(point)}`;
    })
    .join("");

const track = (points) => `M${points.map((p) => p.map((s) => s.toFixed(1)).join(" ")).join("L")}`;

function drawSpace(layer, width, value, { backdrop, result }) {
  const { place } = projection(width, value);
  const line = (points, attributes) =>
    drawing("path", { d: curve(points.map(place)), fill: "none", ...attributes });
  const axes = [
    ["x", [20, 0, 0]],
    ["y", [0, 24, 0]],
    ["z", [0, 0, 46]],
  ].flatMap(([name, end]) => [
    line([[0, 0, 0], end], { stroke: "var(--line)" }),
    drawing("text", { x: place(end)[0], y: place(end)[1] - 3, class: "cl-quiet" }, name),
  ]);
  const until = value.after + 1;
  const [truth, said] = [result.truth[value.after], result.said[value.after]];
  layer.replaceChildren(
    ...axes,
    line(backdrop, { stroke: "var(--line)", "stroke-width": 0.7 }),
    line(result.shown, { stroke: "var(--ink)", "stroke-width": 1.2 }),
    line(result.truth.slice(0, until), { stroke: "var(--first)", "stroke-width": 2 }),
    line(result.said.slice(0, until), {
      stroke: "var(--second)",
      "stroke-width": 2,
      "stroke-dasharray": "6 4",
    }),
    drawing("circle", { cx: place(truth)[0], cy: place(truth)[1], r: 5, fill: "var(--first)" }),
    drawing("rect", {
      x: place(said)[0] - 4.5,
      y: place(said)[1] - 4.5,
      width: 9,
      height: 9,
      fill: "var(--second)",
    }),
  );
}

/** x over time: truth, forecast, and until when the forecast stays right. */
function drawTime(svg, width, value, { data, result }) {
  const height = 106,
    last = result.truth.length - 1;
  const at = (t) => 26 + ((width - 36) * t) / last;
  const y = (x) => height / 2 - 10 - x * 1.5;
  const line = (points, attributes) =>
    drawing("path", {
      d: track(points.map(([x], t) => [at(t), y(clamp(x, -30, 30))])),
      fill: "none",
      "stroke-width": 2,
      ...attributes,
    });
  const upright = (t, attributes) =>
    drawing("line", { x1: at(t), x2: at(t), y1: 6, y2: height - 24, ...attributes });
  const perLyapunov = 1 / (data.dt * data.rate); // points in a Lyapunov time
  const ticks = Array.from({ length: Math.floor(last / perLyapunov) + 1 }, (_, i) =>
    drawing("text", { x: at(i * perLyapunov) - 3, y: height - 10, class: "cl-quiet" }, String(i)),
  );
  paint(svg, width, height, "x of truth and forecast over time", [
    drawing("text", { x: 0, y: y(0) + 4, class: "cl-quiet" }, "x"),
    drawing(
      "text",
      { x: width - 8, y: 12, class: "cl-quiet", "text-anchor": "end" },
      "over Lyapunov times",
    ),
    ...ticks,
    upright(result.good, { stroke: "var(--ink)", "stroke-width": 1.5, "stroke-dasharray": "2 3" }),
    upright(value.after, { stroke: "var(--line)", "stroke-width": 1.5 }),
    line(result.truth, { stroke: "var(--first)" }),
    line(result.said, { stroke: "var(--second)", "stroke-dasharray": "6 4" }),
  ]);
}

const LIMITS = { x: [-20, 20], y: [-25, 25], z: [2, 48] };
const within = (key, number) => Math.round(10 * clamp(number, ...LIMITS[key])) / 10;

/** The start as a handle that moves in the plane of the picture. */
function startHandle(svg, state) {
  const ring = drawing("circle", { class: "cl-ring cl-knob", r: 8, style: "stroke: var(--ink)" });
  const handle = drawing("g", {}, drawing("circle", { class: "cl-hit", r: 20 }), ring);
  const view = () => projection(svg.viewBox.baseVal.width, state.value);
  const shift = (from, across, up) => {
    const { right, up: upwards } = view();
    const moved = Object.keys(LIMITS).map((key, i) => [
      key,
      within(key, from[key] + across * right[i] + up * upwards[i]),
    ]);
    state.set(Object.fromEntries(moved));
  };
  let grip = null;
  handle.addEventListener("pointerdown", () => {
    grip = null; // it is held where it is met
  });
  const { say } = draggable(svg, handle, {
    name: "where it starts",
    move(x, y) {
      grip ??= { from: state.value, x, y };
      const { scale } = view();
      shift(grip.from, (x - grip.x) / scale, (grip.y - y) / scale);
    },
    nudge: (across, up) => shift(state.value, across / 2, up / 2),
  });
  fill(handle, { "aria-valuemin": LIMITS.x[0], "aria-valuemax": LIMITS.x[1] }, []);
  svg.append(handle);
  state.draw(({ x, y, z }) => {
    const [a, b, c] = [x, y, z].map((number) => format(number, 1));
    say(`x ${a}, y ${b}, z ${c}`, x);
  });
  return handle;
}

/** Dragging beside the handle turns the view; up and down a finger scrolls the page. */
function dragView(svg, state, handle) {
  let grip = null;
  svg.style.touchAction = "pan-y";
  svg.addEventListener("pointerdown", (event) => {
    if (handle.contains(event.target)) return;
    grip = { from: state.value, x: event.clientX, y: event.clientY };
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  svg.addEventListener("pointermove", (event) => {
    if (!svg.hasPointerCapture(event.pointerId)) return;
    const { from, x, y } = grip;
    const turn = (((Math.round(from.turn - (event.clientX - x) / 2) + 180) % 360) + 360) % 360;
    const tilt = clamp(Math.round(from.tilt + (event.clientY - y) / 2), -80, 80);
    state.set({ turn: turn - 180, tilt });
  });
}

function render({ model, el }) {
  const data = withWeights(model.get("data"));
  const state = connect(model);
  const compute = remember((start) => unfold(data, start));
  const result = ({ x, y, z, rival }) => compute({ x, y, z, rival });
  const backdrop = follow([1, 1, 20], 1500, 0.02).slice(250);
  const times = (count, digits = 2) => format(count * data.dt * data.rate, digits);

  const name = "Truth and forecast in space, from where both start";
  const space = drawing("svg", {
      role: "group",
      "aria-label": name,
      "data-lm-suppress-shortcuts": true,
      style: "cursor: grab",
    }),
    layer = drawing("g", {}),
    time = drawing("svg", {});
  space.append(layer);
  const handle = startHandle(space, state);
  dragView(space, state, handle);
  const picture = element("div", { style: "flex: 1 1 20rem; min-width: 0" }, space, time);
  state.drawWide(picture, (value, width) => {
    const now = result(value);
    fill(space, { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT }, []);
    drawSpace(layer, width, value, { backdrop, result: now });
    const [x, y] = projection(width, value).place(now.shown[0]);
    handle.setAttribute("transform", `translate(${x} ${y})`);
    drawTime(time, width, value, { data, result: now });
  });

  const table = matrixTable(
    state,
    "at this time",
    ["truth", "forecast"],
    ["x", "y", "z"],
    (value) => {
      const { truth, said } = result(value);
      return [truth[value.after], said[value.after]];
    },
    { name: "points" },
  );
  const axis = (key) =>
    slider(state, key, `start ${key}`, {
      min: LIMITS[key][0],
      max: LIMITS[key][1],
      step: 0.1,
      describe: (number) => format(number, 1),
    });
  const degrees = (key, label, most) =>
    slider(state, key, label, { min: -most, max: most, describe: (n) => `${format(n, 0)}°` });
  const valid = element("b", { "data-name": "good" });
  const say = announce(state, (value) => {
    const { good } = result(value);
    write(valid, good * data.dt * data.rate, 2);
    return good === data.steps
      ? `Right for all of the ${times(good)} Lyapunov times shown.`
      : `Right for ${times(good)} Lyapunov times, until the dotted line; then truth and forecast part.`;
  });
  frame(
    el,
    "From one start: the truth, and a forecast",
    element(
      "div",
      { class: "cl-side" },
      picture,
      element(
        "div",
        { style: "flex: 0 1 12rem" },
        choice(state, "rival", "forecast by", [
          ["model", "the Forecaster"],
          ["twin", "exact equations, x off by 0.1"],
        ]),
        slider(state, "after", "time", {
          min: 0,
          max: data.steps,
          describe: (count) => `${times(count, 1)} Lyapunov times`,
        }),
        ["x", "y", "z"].map(axis),
        degrees("turn", "turn", 180),
        degrees("tilt", "tilt", 80),
      ),
    ),
    element(
      "p",
      { class: "cl-marks" },
      element("span", {}, "○ where both start"),
      element("span", { style: "color: var(--first)" }, "●\u2014 truth"),
      element("span", { style: "color: var(--second)" }, "■- - forecast"),
      element("span", {}, "valid prediction time ", valid),
    ),
    say,
    element(
      "div",
      { class: "cl-side" },
      table,
      element(
        "div",
        { style: "flex: 1 1 16rem" },
        goals(state, [
          {
            text: "Find a start from which the Forecaster stays right for more than 3 Lyapunov times.",
            reached: (value) =>
              value.rival === "model" && result(value).good * data.dt * data.rate > 3,
          },
          {
            text: "Find a start from which it is wrong within half a Lyapunov time.",
            reached: (value) =>
              value.rival === "model" && result(value).good * data.dt * data.rate < 0.5,
          },
        ]),
      ),
    ),
  );
  return state.close;
}

export default { render };
