// What a student is told after one prefix, and how far each target brings it with so many sentences.

import { axes } from "../../page/kit/axes.js";
import { connect, slider, tabs } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { answerList } from "../../page/kit/tables.js";

const ROW = 22;

/** A line for each target, with a dot at its gap on a logarithmic axis. */
function build(root, width, { names, gaps }) {
  const top = 8,
    bottom = top + ROW * names.length,
    left = 116;
  const found = Object.values(gaps).flat().filter(Number.isFinite);
  const [least, most] = [Math.min(...found) / 1.2, Math.max(...found) * 1.2];
  const ticks = [0.1, 0.2, 0.5, 1, 2, 4].filter((tick) => tick >= least && tick <= most);
  const { x } = axes(
    root,
    { left, right: width - 46, top, bottom },
    { x: { first: least, last: most, log: true, ticks, lines: true }, y: { first: 0, last: 1 } },
  );
  root.append(
    label("nats a word from the truth", (left + width - 46) / 2, bottom + 36, "cl-quiet"),
  );
  const rows = names.map((name, i) => {
    const y = top + ROW * (i + 0.5);
    const text = label(name, left - 12, y + 4, "cl-end");
    const number = drawing("text", { class: "cl-start", x: 12, y: 4, "data-name": "gap" });
    const dot = drawing("circle", { r: 6 });
    const mark = part(root, drawing("g", {}, dot, number), { x: x(most), y });
    root.append(text);
    return { name, y, text, number, dot, mark };
  });
  return {
    height: bottom + 42,
    pose({ target, size }, move) {
      for (const { name, y, text, number, dot, mark } of rows) {
        const gap = gaps[name][size];
        text.classList.toggle("cl-strong", name === target);
        dot.style.fill = `var(${name === target ? "--first" : "--quiet"})`;
        if (Number.isFinite(gap)) write(number, gap);
        mark.to({ x: Number.isFinite(gap) ? x(gap) : x(least), y, o: Number(gap !== null) }, move);
      }
    },
  };
}

function render({ model, el }) {
  const { prefix, words, told, sizes, gaps } = model.get("data");
  const state = connect(model);
  const names = Object.keys(told);
  const at = (name, size) => gaps[name][size] ?? Infinity;
  const best = (size) => names.reduce((a, b) => (at(b, size) < at(a, size) ? b : a));
  const many = (size) => format(sizes[size], 0);
  const last = sizes.length - 1;
  const tell = ({ target, size }) =>
    Number.isFinite(at(target, size))
      ? `Told “${target}” after each prefix of ${many(size)} sentences, a student ends ` +
        `${format(at(target, size))} nats a word from the truth.`
      : `“${target}” was not tried with ${many(size)} sentences.`;
  frame(
    el,
    "What is a student told?",
    tabs(state, "target", "target", names),
    element("p", {}, `after “${prefix}”`),
    answerList(state, "told", ({ target }) => words.map((word, i) => [word, told[target][i]])),
    element("p", {}, slider(state, "size", "sentences:", { min: 0, max: last, describe: many })),
    stage(state, "How far each target brings a student", (root, width) =>
      build(root, width, { names, gaps }),
    ),
    announce(state, tell),
    goals(state, [
      {
        text: `Give a student of ${many(0)} sentences the target that is best for it.`,
        reached: ({ target, size }) => size === 0 && target === best(0),
      },
      {
        text: `Give a student of ${many(last)} sentences the target that is best for it.`,
        reached: ({ target, size }) => size === last && target === best(last),
      },
    ]),
  );
  return state.close;
}

export default { render };
