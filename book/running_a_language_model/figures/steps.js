// Prefill and decode, a row for each step through the model: which positions it computes, which it reads
// from the cache, and what that costs.

import { connect, slider, toggle } from "../../page/kit/controls.js";
import { css, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { group, label, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";
import { tableRow } from "../../page/kit/tables.js";

css`
  .cl-place {
    fill: var(--line);
  }
`;

/** One step: positions computed and read, operations, bytes moved, and the bytes of the cache after it. */
function cost(data, { cached, rows }, step) {
  const { prompt, layers, width, kept, weights } = data;
  const length = prompt.length + step - 1;
  const computed = cached && step > 1 ? 1 : length;
  const operations = rows * computed * (2 * weights + 4 * layers * width * length);
  const perToken = cached ? 2 * layers * kept * 4 * rows : 0; // a key and a value, four bytes each
  const bytes = 4 * weights + perToken * (length - computed);
  return { length, computed, operations, bytes, cache: perToken * length };
}

/** What all steps up to this one took. */
function soFar(data, value, last) {
  let total = 0;
  for (let step = 1; step <= last; step++) total += cost(data, value, step).operations;
  return total;
}

const UNITS = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** A number with a unit's letter beside it, kept in full precision. */
function writeLarge(node, number, unit) {
  const [size, letter] = UNITS.find(([size]) => number >= size) ?? [1, ""];
  const digits = size === 1 || number / size >= 100 ? 0 : 1;
  write(node, number).textContent = `${format(number / size, digits)} ${letter}${unit}`;
}

function build(root, width, data, texts) {
  const { prompt, written } = data;
  const columns = texts.length,
    left = 60,
    top = 62;
  const cell = Math.min(44, (width - left - 26) / columns),
    row = Math.min(cell, 18),
    side = row - 5;
  const heads = texts.map((text, i) => {
    const name = label(text.trim() || "␣", 0, 0, "cl-strong cl-start");
    name.setAttribute("transform", "rotate(-50)");
    return group(
      root,
      { x: left + (i + 0.6) * cell, y: top - 8, o: i < prompt.length ? 1 : 0 },
      name,
    );
  });
  // The steps to come, so that the first picture shows what will be filled.
  const places = written.flatMap((_, r) =>
    Array.from({ length: prompt.length + r }, (_, i) =>
      drawing("circle", {
        class: "cl-place",
        cx: left + (i + 0.5) * cell,
        cy: top + (r + 0.5) * row,
        r: 2,
      }),
    ),
  );
  root.append(...places);
  [
    ["cl-tint", "stream", "computed in this step"],
    ["cl-edge", "k", "read from the cache"],
  ].forEach(([look, kind, text], i) => {
    const y = top + 8 + 20 * i - (width < 480 ? 62 : 0);
    const sample = drawing("rect", {
      class: look,
      x: width - 12,
      y: y - 10,
      width: 12,
      height: 12,
    });
    root.append(
      drawing("g", { class: `cl-${kind}` }, sample),
      label(text, width - 18, y, "cl-end cl-quiet cl-tiny"),
    );
  });
  const steps = written.map((_, r) => {
    const y = top + r * row;
    const cells = Array.from({ length: prompt.length + r }, (_, i) => {
      const at = {
        x: left + i * cell + (cell - side) / 2,
        y: y + 2.5,
        width: side,
        height: side,
        rx: 3,
      };
      const full = drawing(
        "g",
        { class: "cl-stream" },
        drawing("rect", { class: "cl-tint", ...at }),
      );
      const paper = drawing("rect", { class: "cl-paper", ...at }); // over the place's dot
      const edge = drawing("rect", { class: "cl-edge", ...at });
      const open = drawing("g", { class: "cl-k" }, paper, edge);
      const node = drawing("g", { "data-name": "cell" }, full, open);
      return { node, full, open };
    });
    const name = label(r ? `decode ${r}` : "prefill", 0, y + row / 2 + 4, "cl-quiet cl-start");
    return { cells, part: group(root, { o: 0 }, name, ...cells.map(({ node }) => node)) };
  });
  function pose(value, { jump }) {
    heads.forEach((head, i) => {
      head.to({ o: i < prompt.length + value.step ? 1 : 0 }, { jump });
    });
    steps.forEach(({ cells, part }, r) => {
      const { computed, length } = cost(data, value, r + 1);
      cells.forEach(({ node, full, open }, i) => {
        const now = i >= length - computed;
        full.style.opacity = now ? 1 : 0;
        open.style.opacity = now ? 0 : 1;
        node.dataset.value = now ? "1" : "0";
      });
      part.to({ o: r < value.step ? 1 : 0 }, { jump });
    });
  }
  return { height: top + written.length * row + 6, pose };
}

/** Rows of numbers under the picture. */
function costs(state, data) {
  const rows = {
    "this step: operations": (value, step) => [step ? cost(data, value, step).operations : 0, ""],
    "this step: bytes moved": (value, step) => [step ? cost(data, value, step).bytes : 0, "B"],
    "all steps so far: operations": (value, step) => [soFar(data, value, step), ""],
    "the cache holds": (value, step) => [step ? cost(data, value, step).cache : 0, "B"],
  };
  const nodes = Object.keys(rows).map((name) => element("td", { "data-name": name }));
  const intensity = element("td", { "data-name": "intensity" });
  state.draw((value) => {
    Object.values(rows).forEach((row, i) => {
      writeLarge(nodes[i], ...row(value, value.step));
    });
    const { operations, bytes } = cost(data, value, Math.max(1, value.step));
    write(intensity, value.step ? operations / bytes : 0, 1);
  });
  const lines = Object.keys(rows).map((name, i) => tableRow(name, nodes[i]));
  lines.splice(2, 0, tableRow("this step: operations per byte", intensity));
  return element("table", {}, element("caption", {}, "What it costs"), element("tbody", {}, lines));
}

function render({ model, el }) {
  const data = model.get("data"),
    { prompt, written } = data;
  const state = connect(model);
  const quoted = (text) => `“${text.trim() || "␣"}”`;
  const caption = ({ step, cached }) => {
    if (step === 0) return `The prompt has ${prompt.length} tokens. Nothing is computed yet.`;
    const { computed, length } = cost(data, state.value, step);
    const read = length - computed;
    const says = `It writes ${quoted(written[step - 1])}.`;
    if (step === 1) return `Prefill: all ${length} tokens of the prompt at once. ${says}`;
    return cached
      ? `Decode: 1 token is computed, the keys and values of ${read} come from the cache. ${says}`
      : `Decode without a cache: all ${computed} tokens are computed again, keys and values too. ${says}`;
  };
  const steps = stepper(state, {
    steps: ["start", ...written].map((_, i) => ({
      name: i === 0 ? "prompt" : i === 1 ? "prefill" : `decode ${i - 1}`,
      caption,
    })),
    pace: 1800,
  });
  const texts = [...prompt, ...written];
  const picture = stage(state, "the positions that each step computes", (root, width) =>
    build(root, width, data, texts),
  );
  const controls = element(
    "div",
    { class: "cl-controls" },
    toggle(state, "cached", "keep a cache"),
    slider(state, "rows", "conversations at once", { min: 1, max: 64 }),
  );
  const whole = (value) => soFar(data, value, written.length);
  const puzzles = goals(state, [
    {
      text: "Write the whole text for three times the operations that a cache makes of it.",
      reached: (value) =>
        value.step === written.length && whole(value) > 3 * whole({ ...value, cached: true }),
    },
    {
      text: "With the cache, do more than ten operations per byte in a decode step.",
      reached: (value) => {
        const { operations, bytes } = cost(data, value, Math.max(1, value.step));
        return value.cached && value.step > 1 && operations > 10 * bytes;
      },
    },
  ]);
  const beside = element("div", { style: "flex: 1 1 18rem" }, controls, puzzles);
  const side = element("div", { class: "cl-side", style: "margin-top: 0.9rem" });
  side.append(costs(state, data), beside);
  frame(el, "Prefill and decode", picture, steps, side);
  return state.close;
}

export default { render };
