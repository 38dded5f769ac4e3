// Five features in a plane: where their arrows go when the features become rarer.

import { connect, slider } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";

const LONG = 0.5; // an arrow that is shorter is no arrow

const sizes = ([across, up]) => across.map((x, i) => Math.hypot(x, up[i]));
const kept = (arrows) => sizes(arrows).filter((size) => size > LONG).length;

function build(root, width, { arrows, lost, linear }) {
  const side = Math.min(width * 0.62, 300),
    middle = { x: side / 2, y: side / 2 };
  const unit = (side / 2 - 18) / Math.max(...arrows.flatMap(sizes));
  root.append(
    drawing("circle", { class: "cl-axis", cx: middle.x, cy: middle.y, r: unit, fill: "none" }),
    label("length 1", middle.x, middle.y + unit - 6, "cl-quiet"),
  );
  const features = arrows[0][0].map((_, i) => {
    const shaft = drawing("path", { class: "cl-shaft", "stroke-width": 3.5 });
    const head = drawing("circle", { class: "cl-tip", r: 6 });
    const name = drawing("text", { class: "cl-strong" }, String(i + 1));
    return part(
      root,
      drawing("g", { class: "cl-stream", "data-name": "arrow" }, shaft, head, name),
      { ...middle, dx: 0, dy: 0 },
      ({ dx, dy }) => {
        const far = Math.hypot(dx, dy) || 1;
        shaft.setAttribute("d", `M0 0L${dx} ${dy}`);
        head.setAttribute("transform", `translate(${dx} ${dy})`);
        name.setAttribute("x", String(dx + (14 * dx) / far));
        name.setAttribute("y", String(dy + (14 * dy) / far + 5));
      },
    );
  });
  const left = side + 16,
    room = width - left - 2,
    bars = [
      ["with the ReLU", "lost", lost, "cl-model"],
      ["without it", "linear", linear, "cl-measure"],
    ].map(([text, name, numbers, kind], i) => {
      const y = 66 + 74 * i;
      const bar = drawing("rect", { class: "cl-tip", height: 20, y });
      const number = drawing("text", {
        class: "cl-start cl-strong",
        "data-name": name,
        x: left,
        y: y + 38,
      });
      root.append(
        label(text, left, y - 8, "cl-start"),
        drawing("rect", { class: "cl-axis", x: left, y, width: room, height: 20 }),
        number,
      );
      const grown = part(root, drawing("g", { class: kind }, bar), { x: left, w: 0 }, ({ w }) =>
        bar.setAttribute("width", w),
      );
      return { numbers, number, grown };
    });
  root.append(label("share that is lost", left, 22, "cl-start cl-quiet"));
  return {
    height: side,
    pose({ level }, move) {
      const [across, up] = arrows[level];
      features.forEach((feature, i) =>
        feature.to({ dx: across[i] * unit, dy: -up[i] * unit }, move),
      );
      for (const { numbers, number, grown } of bars) {
        write(number, numbers[level]);
        grown.to({ w: room * Math.min(numbers[level], 1) }, move);
      }
    },
  };
}

function render({ model, el }) {
  const data = model.get("data");
  const { chances, arrows, lost } = data;
  const state = connect(model);
  const scene = stage(state, "Five features as arrows in a plane", (root, width) =>
    build(root, width, data),
  );
  const controls = element(
    "div",
    { class: "cl-controls" },
    slider(state, "level", "a feature is present with probability", {
      min: 0,
      max: chances.length - 1,
      describe: (level) => format(chances[level], 2),
    }),
  );
  const say = announce(
    state,
    ({ level }) =>
      `With probability ${format(chances[level], 2)}, ${kept(arrows[level])} of ${arrows[level][0].length} features have an arrow, and ${format(lost[level])} of their square is lost.`,
  );
  const all = arrows[0][0].length;
  const commonest = arrows.findIndex((w) => kept(w) === all);
  const puzzles = goals(state, [
    {
      text: "Find the commonest features of which the plane still keeps all five.",
      reached: ({ level }) => level === commonest,
    },
    {
      text: "Make them so rare that less than a tenth is lost.",
      reached: ({ level }) => lost[level] < 0.1,
    },
  ]);
  frame(el, "Five features, two dimensions", controls, scene, say, puzzles);
  return state.close;
}

export default { render };
