// What a machine sends in a step of training, by four ways to share a model out: bars with one scale.

import { axes } from "../../page/kit/axes.js";
import { connect, slider } from "../../page/kit/controls.js";
import { announce, drawing, element, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax } from "../../page/kit/numerics.js";
import { label, part, stage } from "../../page/kit/stage.js";

const LEAST = 1e3,
  MOST = 1e14; // bytes
const UNITS = [
  [1e12, "TB"],
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
];

const short = (number) => Number(number.toPrecision(2)).toLocaleString("en");
const inBytes = (bytes) => {
  const [unit, name] = UNITS.find(([size]) => bytes >= size) ?? [1, "B"];
  return `${short(bytes / unit)} ${name}`;
};
const sizes = ({ width, tokens, machines }) => ({
  d: 2 ** width,
  T: Math.round(2 ** (tokens / 2)),
  N: 2 ** machines,
});

/** Bytes that a machine sends, in the order of the ways; two for a number. */
function sent(value, blocks) {
  const { d, T, N } = sizes(value);
  const ring = (2 * (N - 1)) / N,
    weights = 12 * d ** 2 * blocks,
    activations = T * d;
  return [2 * ring * weights, 3 * ring * weights, 8 * ring * activations * blocks, 4 * activations];
}

function build(root, width, ways, bytesOf) {
  const row = 38,
    box = { left: 8, right: width - 76, top: 6, bottom: 6 + row * ways.length };
  const wide = width > 480;
  const { x } = axes(root, box, {
    x: {
      first: LEAST,
      last: MOST,
      log: true,
      ticks: wide ? [1e3, 1e6, 1e9, 1e12] : [1e6, 1e12],
      text: inBytes,
      lines: true,
    },
    y: { first: 0, last: 1 },
  });
  const bars = ways.map((way, i) => {
    const y = box.top + i * row;
    const rect = drawing("rect", { x: box.left, y: y + 17, height: 14 });
    const text = label("", 0, y + 29, "cl-start cl-sub");
    const bar = part(root, rect, { w: 0 }, ({ w }) => rect.setAttribute("width", Math.max(w, 0)));
    root.append(label(way, box.left + 2, y + 13, "cl-start cl-over"));
    return { bar, rect, number: part(root, text, {}), text };
  });
  return {
    height: box.bottom + 24,
    pose(value, move) {
      const bytes = bytesOf(value),
        least = argmax(bytes.map((number) => -number));
      bars.forEach(({ bar, rect, number, text }, i) => {
        rect.style.fill = i === least ? "var(--first)" : "var(--quiet)";
        text.textContent = inBytes(bytes[i]) + (i === least ? " least" : "");
        bar.to({ w: x(bytes[i]) - box.left }, move);
        number.to({ x: x(bytes[i]) + 5 }, move);
      });
    },
  };
}

function render({ model, el }) {
  const { ways, blocks } = model.get("data");
  const state = connect(model);
  const bytesOf = (value) => sent(value, blocks);
  const numbers = ways.map((way) => element("b", { "data-name": way }));
  state.draw((value) => bytesOf(value).forEach((bytes, i) => write(numbers[i], bytes / 1e9)));
  const tell = (value) => {
    const { d, T, N } = sizes(value),
      bytes = bytesOf(value);
    const least = argmax(bytes.map((number) => -number));
    return (
      `${short((12 * blocks * d ** 2) / 1e6)} million weights, ${T.toLocaleString("en")} tokens, ${N} machines: ` +
      `${ways[least]} sends least, ${inBytes(bytes[least])}. Tensor parallel sends ` +
      `${short(bytes[2] / bytes[0])} times what data parallel does.`
    );
  };
  const power = (key, range, describe) => slider(state, key, key, { ...range, describe });
  const balanced = (value) => Math.abs(bytesOf(value)[2] / bytesOf(value)[0] - 1) < 0.1;
  frame(
    el,
    "Who sends least?",
    element(
      "div",
      { class: "cl-controls" },
      power("width", { min: 6, max: 14 }, (_, value) => sizes(value).d.toLocaleString("en")),
      power("tokens", { min: 12, max: 48 }, (_, value) => sizes(value).T.toLocaleString("en")),
      power("machines", { min: 1, max: 6 }, (_, value) => String(sizes(value).N)),
    ),
    stage(state, "What a machine sends in a step, four ways", (root, width) =>
      build(root, width, ways, bytesOf),
    ),
    element(
      "p",
      {},
      "gigabytes: ",
      numbers.flatMap((node, i) => [`${i ? "; " : ""}${ways[i]} `, node]),
    ),
    announce(state, tell),
    goals(state, [
      {
        text: "Let tensor parallel and data parallel send the same, to a tenth.",
        reached: balanced,
      },
      {
        text: "Find this balance at width 512, too. What is its rule?",
        reached: (value) => value.width === 9 && balanced(value),
      },
      {
        text: "Let data parallel send less than a pipeline.",
        reached: (value) => bytesOf(value)[0] < bytesOf(value)[3],
      },
    ]),
  );
  return state.close;
}

export default { render };
