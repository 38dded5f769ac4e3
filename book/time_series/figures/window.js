// A window of a series on its way through a Forecaster: points, differences, patches, vectors, weights, a move.

import { ribbon, strip } from "../../page/kit/cells.js";
import { choice, connect } from "../../page/kit/controls.js";
import { css, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { html } from "../../page/kit/html.js";
import { argmax, clamp } from "../../page/kit/numerics.js";
import { arrow, tokenRow } from "../../page/kit/parts.js";
import { group, label, part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

css`
  .cl-window .cl-control {
    grid-auto-flow: column;
    align-items: center;
    gap: 0.5rem;
  }
`;

const NAMES = ["points", "differences", "patches", "vectors", "attention", "blocks", "move"];
const [POINTS, DIFFERENCES, PATCHES, VECTORS, ATTENTION, BLOCKS, MOVE] = NAMES.keys();

const shown = (number) => format(number, 2);
const largest = (rows) => Math.max(...rows.flat());

/** Attention weights [query][key] of the head that is looked at; `look` is "block head". */
function looked({ examples }, { example, look }) {
  const [block, head] = look.split(" ").map(Number);
  return examples[example].weights[block][head];
}

/** In typical steps: a difference, or the move from the last point to what is said. */
const moveOf = ({ scale }, { points, said }) => (said - points.at(-1)) / scale;

function captions(data) {
  const { examples, patch: size, scale } = data;
  const of = ({ example }) => examples[example];
  const [points, count, width] = [
    examples[0].points.length,
    examples[0].vectors.length,
    examples[0].vectors[0].length,
  ];
  const vector = (row) => `(${row.slice(0, 3).map(shown).join(", ")}, …)`;
  return [
    (value) =>
      `The last ${points} points of the series. The last of them is ${shown(of(value).points.at(-1))}. ` +
      "Where will the next one be, at the question mark?",
    (value) =>
      `Below each point, how far it moved since the one before, in typical steps of ${shown(scale)}. ` +
      `The last moved ${shown(of(value).differences.at(-1) / scale)}.`,
    ({ patch }) =>
      `${size} neighbours make a patch: ${size} values and ${size} differences, ${2 * size} numbers. ` +
      `There are ${count}. We follow patch ${patch + 1}; press another to follow it.`,
    (value) =>
      html`One matrix turns the ${2 * size} numbers of a patch into ${width}, and a learned <b class="cl-position">vector of its place</b> is added. Patch ${value.patch + 1} becomes ${vector(of(value).vectors[value.patch])}.`,
    (value) => {
      const row = looked(data, value)[value.patch];
      return html`In the head chosen above, patch ${value.patch + 1} gives these <b class="cl-attention">weights</b>: ${row.map(shown).join(", ")}. Most goes to patch ${argmax(row) + 1}.`;
    },
    (value) =>
      `After all blocks and a last norm, patch ${value.patch + 1} is ` +
      `${vector(of(value).read[value.patch])}.`,
    (value) => {
      const { points, said, truth } = of(value);
      return (
        `One matrix reads all ${count * width} numbers and says the move: ` +
        `${shown(moveOf(data, of(value)))} typical steps. ${shown(points.at(-1))} + ${shown(scale)} · ` +
        `${shown(moveOf(data, of(value)))} = ${shown(said)} (the ring). The truth is ${shown(truth)} (the dot).`
      );
    },
  ];
}

function build(root, width, data, state) {
  const { examples, patch: size, scale } = data;
  const { points, vectors } = examples[0];
  const pitch = (width - 8) / (points.length + 1.5);
  const at = (i) => 4 + (i + 0.5) * pitch;
  // Alone, the curve fills the picture; then it makes room for what is made of it: its middle and a
  // unit of it, and where the name and the foot of the differences are, and a typical step.
  const layouts = [
    { middle: 134, unit: 38, heading: 100, foot: 128, typical: 8 },
    { middle: 82, unit: 24, heading: 172, foot: 228, typical: 17 },
    { middle: 48, unit: 13, heading: 100, foot: 128, typical: 8 },
  ];
  const y = ({ middle, unit }, x) => middle - unit * clamp(x, -3.2, 3.2);
  const middle = (i) => 4 + (i + 0.5) * size * pitch,
    room = size * pitch - 8;
  const inKind = (kind, ...nodes) => drawing("g", { class: `cl-${kind}` }, nodes);
  const bands = vectors.map(() =>
    group(root, { o: 0 }, drawing("rect", { class: "cl-unit", width: room, height: 146, rx: 5 })),
  );
  const lane = (text, y) =>
    group(root, { y, o: 0 }, label(text, 4, 0, "cl-start cl-quiet cl-tiny"));
  const heading = lane("differences", 100);
  const lanes = [
    [VECTORS, ATTENTION, lane("vectors", 198)],
    [BLOCKS, MOVE, lane("after the blocks", 198)],
    [ATTENTION, ATTENTION, lane("weights", 274)],
    [MOVE, MOVE, lane("move, in typical steps", 274)],
  ];
  const line = drawing("path", { class: "cl-truth" });
  const dots = points.map(() => drawing("circle", { class: "cl-seen", r: 3 }));
  let drawn = points,
    drawnAt = layouts[POINTS];
  const redraw = () => {
    line.setAttribute("d", `M${drawn.map((x, i) => `${at(i)} ${y(drawnAt, x)}`).join("L")}`);
    dots.forEach((dot, i) => fill(dot, { cx: at(i), cy: y(drawnAt, drawn[i]) }, []));
  };
  const curve = part(root, drawing("g", {}, line, dots), layouts[POINTS], (now) => {
    drawnAt = now;
    redraw();
  });
  const next = group(root, { o: 0 }, label("?", 0, 5, "cl-strong"));
  const bars = points.map(() => {
    const bar = drawing("rect", { class: "cl-bar-of-answer", "data-name": "difference" });
    const draw = ({ d }) =>
      fill(
        bar,
        { x: -0.3 * pitch, width: 0.6 * pitch, y: Math.min(0, -d), height: Math.abs(d) },
        [],
      );
    return {
      bar,
      ...part(root, drawing("g", {}, bar), { y: layouts[DIFFERENCES].foot, d: 0, o: 0 }, draw),
    };
  });
  const strips = vectors.map((row, i) =>
    ribbon(root, row.length, "stream", {
      cell: room / row.length,
      height: 16,
      name: "vector",
      first: { x: middle(i) - room / 2, y: 202, o: 0 },
    }),
  );
  const cell = Math.min(52, (width - 112) / size);
  const holds = ["values", "differences"].map((text, i) => {
    const made = strip(root, Array(size).fill(0), "stream", {
      cell,
      height: 24,
      name: "held",
      first: { x: 104, y: 224 + 28 * i, o: 0 },
    });
    return { ...made, name: lane(text, 240 + 28 * i) };
  });
  const tokens = tokenRow(
    root,
    vectors.map((_, i) => String(i + 1)),
    vectors.map((_, i) => middle(i)),
    { y: 158, height: 26, name: "patch", pick: (patch) => state.set({ patch }), wide: () => 36 },
  );
  const pulls = vectors.map(() => arrow(root, "attention", { o: 0 }, { bend: true, head: false }));
  const weights = vectors.map((_, i) => {
    const number = label("", middle(i), 233, "cl-own cl-strong");
    number.dataset.name = "weight";
    return { number, ...group(root, { o: 0 }, inKind("attention", number)) };
  });
  const taken = group(root, { o: 0 }, label("", 0, 0, "cl-strong"));
  const gathers = vectors.map((_, i) =>
    arrow(
      root,
      "stream",
      { x1: middle(i), y1: 222, x2: width / 2, y2: 258, w: 2, o: 0 },
      { bend: true, head: false },
    ),
  );
  const move = label("", width / 2, 274, "cl-strong");
  move.dataset.name = "move";
  const spoken = group(root, { o: 0 }, move);
  const said = group(root, { o: 0 }, drawing("circle", { class: "cl-own-point", r: 4 }));
  const truth = group(root, { o: 0 }, drawing("circle", { class: "cl-seen", r: 3 }));

  function pose(value, { jump }) {
    const { step, patch } = value;
    const now = examples[value.example];
    const go = (thing, goal, delay = 0) => thing.to(goal, { jump, delay });
    const seen = (first, last = MOVE) => (step >= first && step <= last ? 1 : 0);
    lanes.forEach(([first, last, text]) => go(text, { o: seen(first, last) }));
    const layout = layouts[Math.min(step, PATCHES)];
    const moved = now.differences.map((difference) => difference / scale);
    drawn = now.points;
    redraw();
    go(curve, { middle: layout.middle, unit: layout.unit });
    go(next, { x: at(points.length), y: y(layout, drawn.at(-1)), o: seen(POINTS, POINTS) });
    go(heading, { y: layout.heading, o: seen(DIFFERENCES) });
    bands.forEach((band, i) => go(band, { x: middle(i) - room / 2, y: 6, o: seen(PATCHES) }));
    bars.forEach(({ bar, ...thing }, i) => {
      bar.dataset.value = String(moved[i]);
      const d = layout.typical * clamp(moved[i], -2.8, 2.8);
      go(thing, { x: at(i), y: layout.foot, d, o: seen(DIFFERENCES) }, 15 * i);
    });
    const chosen = (list) => list.slice(patch * size, (patch + 1) * size);
    [drawn, moved].forEach((list, i) => {
      holds[i].set(chosen(list));
      go(holds[i], { o: seen(PATCHES, VECTORS) });
      go(holds[i].name, { o: seen(PATCHES, VECTORS) });
    });
    tokens.press(patch);
    tokens.forEach((token) => go(token, { o: seen(PATCHES) }));
    strips.forEach((strip, i) => {
      const row = step < BLOCKS ? now.vectors[i] : now.read[i];
      strip.set(row, (number) => Math.abs(number) / 2);
      go(strip, { o: seen(VECTORS) });
    });
    const row = looked(data, value)[patch];
    const x2 = clamp(middle(patch), 50, width - 50);
    pulls.forEach((pull, i) => {
      const line = { x1: middle(i), y1: 238, x2, y2: 262, w: 24 * row[i] };
      go(pull, { ...line, o: seen(ATTENTION, ATTENTION) });
      write(weights[i].number, row[i]);
      go(weights[i], { o: seen(ATTENTION, ATTENTION) });
    });
    taken.node.firstChild.textContent = `to patch ${patch + 1}`;
    go(taken, { x: x2, y: 275, o: seen(ATTENTION, ATTENTION) });
    gathers.forEach((line) => go(line, { o: seen(MOVE) }));
    write(move, moveOf(data, now));
    go(spoken, { o: seen(MOVE) });
    go(said, { x: at(points.length), y: y(layout, now.said), o: seen(MOVE) });
    go(truth, { x: at(points.length), y: y(layout, now.truth), o: seen(MOVE) });
  }
  return { height: 281, pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const state = connect(model);
  const { examples } = data;
  const texts = captions(data);
  const heads = examples[0].weights.flatMap((block, b) =>
    block.map((_, h) => [`${b} ${h}`, `block ${b + 1}, head ${h + 1}`]),
  );
  const moves = examples.map((example) => Math.abs(moveOf(data, example)));
  frame(
    el,
    "A window on its way through the Forecaster",
    element(
      "div",
      { class: "cl-controls cl-window" },
      choice(
        state,
        "example",
        "window",
        examples.map((_, i) => [i, `window ${i + 1}`]),
      ),
      choice(state, "look", "attention of", heads),
    ),
    stage(state, "The window, its patches and their vectors", (root, width) =>
      build(root, width, data, state),
    ),
    stepper(state, { steps: NAMES.map((name, i) => ({ name, caption: texts[i] })), pace: 4200 }),
    goals(state, [
      {
        text: "Find the head and the patch with the largest weight of this window.",
        reached: (value) =>
          value.step === ATTENTION &&
          largest(looked(data, value)[value.patch]) ===
            Math.max(...examples[value.example].weights.flat(3)),
      },
      {
        text: "Find the window that is followed by the largest move, and see the move.",
        reached: ({ step, example }) => step === MOVE && moves[example] === Math.max(...moves),
      },
    ]),
  );
  return state.close;
}

export default { render };
