// A power law with a floor through the losses of a few sizes. The reader sets the floor and the exponent,
// the factor is the one of least squares, and the next size appears when it is asked for.

import { axes, scale } from "../../page/kit/axes.js";
import { button, connect, remember, slider, toggle } from "../../page/kit/controls.js";
import { announce, css, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp, dot } from "../../page/kit/numerics.js";
import { draggable, label, part, stage } from "../../page/kit/stage.js";

css`
  .cl-floor {
    display: grid;
    gap: 0.4rem 1.6rem;
    grid-template-columns: max-content minmax(0, 1fr);
    align-items: start;
    margin-top: 0.6rem;
  }
  .cl-floor .cl-captions > * {
    margin-top: 0;
  }
  @media (max-width: 40rem) {
    .cl-floor {
      grid-template-columns: minmax(0, 1fr);
    }
  }
`;

const EXPONENTS = Array.from({ length: 80 }, (_, i) => (i + 1) / 20);

/** floor + factor · (n / first size) ^ −exponent, and how far from the points it is at worst. */
function fitted({ sizes, losses }, floor, exponent) {
  const shape = (n) => (n / sizes[0]) ** -exponent;
  const above = losses.map((loss) => loss - floor),
    shapes = sizes.map(shape);
  const factor = dot(shapes, above) / dot(shapes, shapes);
  const at = (n) => floor + factor * shape(n);
  const miss = Math.max(...sizes.map((n, i) => Math.abs(at(n) - losses[i])));
  return { exponent, factor, at, miss };
}

const bestFit = (data, floor) =>
  EXPONENTS.map((exponent) => fitted(data, floor, exponent)).reduce((a, b) =>
    b.miss < a.miss ? b : a,
  );

function build(root, width, data, result, setFloor) {
  const { sizes, losses, next, entropy, range } = data;
  const left = 44,
    right = width - 30,
    top = 28,
    bottom = 270;
  const most = losses[0] + 0.1,
    first = sizes[0] / 1.25,
    last = next.size * 1.5;
  const lossAt = scale([bottom, top], [range[0], most]);
  const quarters = [];
  for (let tick = Math.ceil(range[0] * 4) / 4; tick <= most; tick += 0.25) quarters.push(tick);
  const short = (n) => `${format(n / 1000, n < 9950 ? 1 : 0)}k`;
  const { x, y } = axes(
    root,
    { left, right, top, bottom },
    {
      x: { first, last, log: true, ticks: [...sizes, next.size], text: short },
      y: { first: range[0], last: most, ticks: quarters, text: (loss) => format(loss) },
    },
  );
  root.append(
    label("parameters", (left + right) / 2, bottom + 37, "cl-quiet"),
    label("loss, nats per token", left + 4, 12, "cl-quiet cl-start"),
  );
  const curve = drawing("path", { class: "cl-guessed" });
  const bottomLine = drawing("path", { class: "cl-line", style: "stroke-dasharray: 2 4" });
  const named = label(
    `the language's entropy, ${format(entropy)}`,
    left + 6,
    y(entropy) - 6,
    "cl-start cl-own cl-over",
  );
  const level = drawing("path", { class: "cl-edge", d: `M${left} ${y(entropy)}H${right}` });
  root.append(bottomLine, curve);
  const truth = part(root, drawing("g", { class: "cl-measure" }, level, named), { o: 0 });
  losses.forEach((loss, i) =>
    root.append(drawing("circle", { class: "cl-found", r: 5, cx: x(sizes[i]), cy: y(loss) })),
  );
  const bottomName = label("floor", right - 4, 16, "cl-end cl-quiet cl-over");
  const lowest = part(root, drawing("g", {}, bottomName));
  const guess = drawing("g", {}, drawing("circle", { class: "cl-ring", r: 6 }));
  guess.append(label("predicted", 0, -13, "cl-over"));
  const ring = part(root, guess, { x: x(next.size) });
  const dot = drawing("circle", { class: "cl-found", r: 5, cx: x(next.size), cy: y(next.loss) });
  const arrived = part(root, dot, { o: 0 });
  const handle = drawing("g", {}, drawing("circle", { class: "cl-ring cl-knob", r: 12 }));
  let floorNow = range[1];
  const knob = part(root, handle, { x: right + 12 });
  const spoken = draggable(root, handle, {
    name: "floor",
    move: (_, height) => setFloor(lossAt(height)),
    nudge: (_, up) => setFloor(floorNow + up * 0.01),
  });
  fill(handle, { "aria-valuemin": range[0], "aria-valuemax": range[1] }, []);
  const steps = Array.from({ length: 61 }, (_, i) => first * (last / first) ** (i / 60));
  const pose = (value, { jump }) => {
    const fit = result(value);
    floorNow = value.floor;
    spoken.say(`${format(value.floor)} nats`, value.floor);
    knob.to({ y: y(value.floor) }, { jump: true });
    lowest.to({ y: y(value.floor) }, { jump: true });
    bottomLine.setAttribute("d", `M${left} ${y(value.floor)}H${right}`);
    const points = steps.filter((n) => fit.at(n) <= most).map((n) => `${x(n)} ${y(fit.at(n))}`);
    curve.setAttribute("d", `M${points.join("L")}`);
    ring.to({ y: y(fit.at(next.size)) }, { jump: true });
    arrived.to({ o: value.shown ? 1 : 0 }, { jump });
    truth.to({ o: value.shown ? 1 : 0 }, { jump });
  };
  return { height: bottom + 46, pose };
}

function render({ model, el }) {
  const data = model.get("data"),
    { next, range, tolerance, apart } = data;
  const state = connect(model);
  const result = remember(({ floor, exponent, auto }) =>
    auto ? bestFit(data, floor) : fitted(data, floor, exponent),
  );
  const fit = ({ floor, exponent, auto }) => result({ floor, exponent, auto });
  const setFloor = (number) =>
    state.set({ floor: Number(clamp(number, ...range).toFixed(2)), shown: false, guess: null });
  const picture = stage(state, "Loss over size, and a fit", (root, width) =>
    build(root, width, data, fit, setFloor),
  );
  const shownExponent = (value) => (value.auto ? fit(value).exponent : value.exponent);
  const exponent = slider(state, "exponent", "exponent", {
    min: EXPONENTS[0],
    max: EXPONENTS.at(-1),
    step: 0.05,
    describe: (_, value) => format(shownExponent(value)),
    disabled: ({ auto }) => auto,
    at: shownExponent,
  });
  const reveal = button(
    state,
    "",
    (value) =>
      value.shown
        ? { shown: false, guess: null }
        : { shown: true, guess: fit(value).at(next.size) },
    {
      class: "cl-main",
      draw: (node, { shown }) => {
        node.textContent = shown ? "Hide the next size" : "Show the next size";
      },
    },
  );
  const number = (name) => element("dd", { "data-name": name });
  const found = { floor: number("floor"), miss: number("miss"), next: number("next") };
  state.draw((value) => {
    write(found.floor, value.floor);
    write(found.miss, fit(value).miss, 3);
    write(found.next, fit(value).at(next.size), 3);
  });
  const pairs = [
    ["floor", found.floor],
    ["farthest point from the curve", found.miss],
    ["predicted for the next size", found.next],
  ];
  const list = element(
    "dl",
    { class: "cl-pairs", style: "margin: 0" },
    pairs.flatMap(([name, node]) => [element("dt", {}, name), node]),
  );
  const tell = (value) => {
    const { miss, at } = fit(value);
    const close = miss <= tolerance ? "passes all points" : "misses a point";
    const start = `With a floor of ${format(value.floor)} the curve ${close}.`;
    if (!value.shown) return `${start} It predicts ${format(at(next.size), 3)} for the next size.`;
    const off = Math.abs(at(next.size) - next.loss);
    return `${start} The next size reached ${format(next.loss, 3)}, ${format(off, 3)} from the prediction.`;
  };
  const say = announce(state, tell, [tell({ ...state.value, shown: true })]);
  let lowest = Infinity,
    highest = -Infinity;
  const puzzles = goals(state, [
    {
      text: `Bring the curve within ${format(tolerance)} of all points.`,
      reached: (value) => fit(value).miss <= tolerance,
    },
    {
      text: `Find two floors, ${format(apart)} or more apart, with which it passes that close.`,
      reached: (value) => {
        if (fit(value).miss <= tolerance) {
          lowest = Math.min(lowest, value.floor);
          highest = Math.max(highest, value.floor);
        }
        return highest - lowest >= apart - 1e-9;
      },
    },
    {
      text: `Commit yourself, then show the next size: predicted within ${format(tolerance)}?`,
      reached: ({ guess }) => guess !== null && Math.abs(guess - next.loss) <= tolerance,
    },
  ]);
  frame(
    el,
    "A floor through four points",
    element(
      "div",
      { class: "cl-controls" },
      exponent,
      toggle(state, "auto", "best exponent for me"),
      reveal,
    ),
    picture,
    element("div", { class: "cl-floor" }, list, say),
    puzzles,
  );
  return state.close;
}

export default { render };
