// Two layers of attention and the three wires between them: cut one, and the loss says what it carried.

import { choice, connect } from "../../page/kit/controls.js";
import { announce, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { cutOrMended, wire } from "../../page/kit/parts.js";
import { label, part, stage } from "../../page/kit/stage.js";

const WIRES = [
  ["q", "queries"],
  ["k", "keys"],
  ["v", "values"],
];

function build(root, width, { losses, even }, state) {
  const unit = Math.min(width, 668) / 668,
    narrow = width < 480;
  const box = { height: 132, y: 34 };
  const first = { x: narrow ? 54 : 120 * unit, width: Math.max(96 * unit, 62) };
  const second = { x: width - Math.max(120 * unit, 72) - 2, width: Math.max(120 * unit, 72) };
  const middle = box.y + box.height / 2;
  const from = first.x + first.width;
  const boxes = [
    [first, "layer 1", narrow ? "one back" : "looks one", narrow ? "" : "letter back"],
    [second, "layer 2", narrow ? "copies" : "finds", narrow ? "" : "and copies"],
  ].flatMap(([{ x, width }, ...lines]) => [
    drawing("rect", { class: "cl-unit", x, width, y: box.y, height: box.height, rx: 6 }),
    label(lines[0], x + width / 2, middle - 12, "cl-strong"),
    label(lines[1], x + width / 2, middle + 8, "cl-quiet"),
    label(lines[2], x + width / 2, middle + 25, "cl-quiet"),
  ]);
  const past = `M2 ${middle}H${first.x - 20 * unit}C${first.x} ${middle} ${first.x - 10} 12 ${first.x + 20} 12H${second.x - 20}Q${second.x} 12 ${second.x + 12} ${box.y}`;
  root.append(
    drawing(
      "g",
      { class: "cl-stream" },
      drawing("path", { class: "cl-shaft", "stroke-width": 2, d: `M2 ${middle}H${first.x}` }),
      drawing("path", { class: "cl-shaft", "stroke-width": 2, d: past }),
    ),
    label("letters", 2, middle + 20, "cl-start cl-quiet"),
    label("past layer 1", (from + second.x) / 2, 28, "cl-quiet"),
    ...boxes,
  );
  const wires = WIRES.map(([letter, name], i) => {
    const y = box.y + 24 + 42 * i,
      half = (from + second.x) / 2;
    const d = `M${from} ${middle}C${from + 40 * unit} ${middle} ${from + 20 * unit} ${y} ${half - 60 * unit} ${y}H${second.x}`;
    const look = { d, x: half, y, wide: narrow ? 84 : 128 };
    const text = narrow ? name : `${letter.toUpperCase()}: ${name}`;
    const node = wire(letter, name, { ...look, text }, () =>
      state.set({ cut: cutOrMended(state.value.cut, letter) }),
    );
    root.append(node);
    return { letter, node };
  });
  const low = box.y + box.height + 44,
    most = Math.max(even, ...Object.values(losses)) * 1.06;
  const across = (loss) => (width * loss) / most;
  const bar = drawing("rect", { class: "cl-tip", y: low, height: 20 });
  const number = drawing("text", { class: "cl-start cl-strong", y: low - 8, x: 0 });
  const loss = drawing("tspan", { "data-name": "loss" });
  number.append("loss on the second copies: ", loss, " nats");
  root.append(
    drawing("rect", { class: "cl-axis", y: low, width, height: 20 }),
    drawing("g", { class: "cl-measure" }, bar),
    drawing("path", { class: "cl-line", d: `M${across(even)} ${low - 5}v30` }),
    label("an even guess", across(even), low + 38, "cl-quiet"),
    number,
  );
  const filled = part(root, drawing("g", {}), { w: 0 }, ({ w }) => fill(bar, { width: w }, []));
  return {
    height: low + 44,
    pose({ cut }, { jump }) {
      wires.forEach(({ letter, node }) =>
        node.setAttribute("aria-pressed", String(cut.includes(letter))),
      );
      write(loss, losses[cut]);
      filled.to({ w: across(losses[cut]) }, { jump });
    },
  };
}

function render({ model, el }) {
  const data = model.get("data");
  const { losses, even } = data;
  const state = connect(model);
  const picture = stage(
    state,
    "Two layers, and the three wires from the first to the second",
    (root, width) => build(root, width, data, state),
  );
  const spelt = (cut) =>
    WIRES.filter(([letter]) => cut.includes(letter))
      .map(([, name]) => name)
      .join(" and ") || "nothing";
  const cuts = choice(
    state,
    "cut",
    "cut",
    ["", "q", "k", "v", "qk", "qv", "kv", "qkv"].map((cut) => [cut, spelt(cut)]),
  );
  const sentence = ({ cut }) => {
    const than = losses[cut] > even ? "worse than" : "better than";
    return `Cut: ${spelt(cut)}. The loss is ${format(losses[cut])} nats, ${than} an even guess among the letters seen.`;
  };
  const others = Object.keys(losses).map((cut) => sentence({ cut }));
  const say = announce(state, sentence, others);
  const puzzles = goals(state, [
    {
      text: "Destroy the copying with a single cut.",
      reached: ({ cut }) => cut.length === 1 && losses[cut] > even,
    },
    {
      text: "Cut two wires, and let the model copy all the same: better than an even guess.",
      reached: ({ cut }) => cut.length === 2 && losses[cut] < even,
    },
  ]);
  const controls = element("div", { class: "cl-controls" }, cuts);
  frame(el, "Cut a wire: click it", controls, picture, say, puzzles);
  return state.close;
}

export default { render };
