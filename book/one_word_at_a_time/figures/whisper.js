// Children in a line, each passing on w times what it heard: how much of every word reaches the
// last of them, and the share that every word has in an average.

import { connect, slider } from "../../page/kit/controls.js";
import { announce, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { group, label, part, stage } from "../../page/kit/stage.js";

const LANE = 118,
  CHILD = 30, // what a child is high
  GAP = 24; // pixels

/** The slope of what the last child knows for every word: w to the power of the handovers. */
const influence = ({ w, children }) =>
  Array.from({ length: children }, (_, i) => w ** (children - 1 - i));

/** A number as it fits over a bar. */
const short = (number) => format(number, number < 1 ? 3 : number < 10 ? 2 : 0);

function build(root, width, most) {
  const rows = { passed: LANE, average: 2 * LANE + CHILD + GAP };
  const wide = width / most;
  const bars = Object.fromEntries(
    Object.entries({ passed: "stream", average: "attention" }).map(([name, kind]) => [
      name,
      Array.from({ length: most }, () => {
        const bar = drawing("rect", { class: "cl-tip" }),
          text = label("", 0, 0);
        const node = drawing("g", { class: `cl-${kind}` }, bar, text);
        text.dataset.name = name;
        const moving = part(
          root,
          node,
          { x: 0, y: rows[name], h: 0, wide, o: 0 },
          ({ h, wide }) => {
            const thick = Math.min(wide * 0.7, 46);
            fill(bar, { x: -thick / 2, y: -h, width: thick, height: h }, []);
            text.setAttribute("y", -h - 6);
          },
        );
        return { ...moving, text };
      }),
    ]),
  );
  root.append(
    label("passed on from child to child", 0, 14, "cl-start cl-strong"),
    label("an average of all words", 0, LANE + CHILD + GAP + 26, "cl-start cl-strong"),
    ...Object.values(rows).map((y) =>
      drawing("path", { stroke: "var(--line)", d: `M0 ${y}.5H${width}` }),
    ),
  );
  // the line: how much of a child's word reaches the last one is how dark it is
  const line = Array.from({ length: most }, () => {
    const body = "M-9 27a9 10 0 0 1 18 0Z";
    const shapes = () => [drawing("circle", { cy: 9, r: 6 }), drawing("path", { d: body })];
    const ink = drawing("g", { fill: "var(--tone)", "data-name": "ink" }, shapes());
    const rim = drawing("g", { fill: "none", stroke: "var(--quiet)" }, shapes());
    const node = drawing("g", { class: "cl-stream" }, ink, rim);
    return part(root, node, { y: LANE + 2, o: 0, ink: 0 }, ({ ink: dark }) =>
      ink.setAttribute("opacity", dark),
    );
  });
  const names = Object.values(rows).map((y) =>
    Array.from({ length: most }, (_, i) =>
      group(
        root,
        { y: y + (y === LANE ? CHILD : 0) + 16, o: 0 },
        label(String(i + 1), 0, 0, "cl-quiet"),
      ),
    ),
  );

  function pose(value, { jump }) {
    const { children } = value,
      column = width / children;
    const numbers = { passed: influence(value), average: Array(children).fill(1 / children) };
    const scale = (LANE - 50) / Math.max(1, ...numbers.passed);
    const at = (i) => ({ x: (Math.min(i, children) + 0.5) * column, o: i < children ? 1 : 0 });
    for (const name of Object.keys(rows)) {
      bars[name].forEach((bar, i) => {
        const number = numbers[name][i];
        const height = number === undefined ? 0 : number * (name === "passed" ? scale : LANE - 50);
        bar.to({ ...at(i), h: height, wide: column }, { jump, ms: 250 });
        delete bar.text.dataset.value;
        if (number === undefined) return;
        write(bar.text, number);
        const crowded = column < 40,
          end = { 0: "cl-start", [children - 1]: "cl-end" }[i];
        bar.text.textContent = crowded && !end ? "" : short(number);
        const aside = crowded && end;
        const x = aside ? (i ? 0.5 : -0.5) * column : 0;
        fill(bar.text, { class: aside ? end : "", x }, []);
      });
    }
    const size = Math.min(1, column / 22);
    line.forEach((child, i) => {
      child.to({ ...at(i), ink: Math.min(1, numbers.passed[i] ?? 0) }, { jump, ms: 250 });
      for (const shapes of child.node.children)
        shapes.setAttribute("transform", `translate(0 ${28 * (1 - size)}) scale(${size})`);
    });
    const named = (i) => column > 24 || i === 0 || i === children - 1 || (i + 1) % 5 === 0;
    names.forEach((row) =>
      row.forEach((name, i) => {
        const o = i < children && named(i) ? 1 : 0;
        name.to({ ...at(i), o }, { jump, ms: 250 });
      }),
    );
  }
  return { height: rows.average + 24, pose };
}

function render({ model, el }) {
  const { most } = model.get("data");
  const state = connect(model);
  const controls = element(
    "div",
    { class: "cl-controls" },
    slider(state, "w", "each passes on w =", {
      min: 0,
      max: 1.2,
      step: 0.01,
      describe: (w) => format(w),
    }),
    slider(state, "children", "children", { min: 2, max: most }),
  );
  const scene = stage(state, "What the last child knows of every word", (root, width) =>
    build(root, width, most),
  );
  const tell = (value) => {
    const [first] = influence(value);
    return (
      `Of the first word, ${short(first)} reaches the last of ${value.children} children. ` +
      `Its weight in the average is ${short(1 / value.children)}.`
    );
  };
  const say = announce(state, tell, [tell({ w: 0, children: most })]);
  const first = (value) => influence(value)[0];
  const puzzles = goals(state, [
    {
      text: "Bring half of the first word (0.45 to 0.55) over eight children or more.",
      reached: (value) => value.children >= 8 && Math.abs(first(value) - 0.5) <= 0.05,
    },
    {
      text: "Let the gradient explode: the first word ten times as loud as the last.",
      reached: (value) => first(value) >= 10,
    },
  ]);
  frame(el, "A line of children", controls, scene, say, puzzles);
  return state.close;
}

export default { render };
