// A sentence read in order and all at once. Words go down, time goes to the right: in order, a word
// waits until the state of its left neighbour is there; at once, every word looks at every word.

import { choice, connect } from "../../page/kit/controls.js";
import { css, drawing, element, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp } from "../../page/kit/numerics.js";
import { group, label, part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";
import { columnHead, headRow, tableRow } from "../../page/kit/tables.js";

css`
  .cl-unrolled {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4rem 2rem;
    align-items: start;
    margin-top: 0.6rem;
    .cl-counts {
      flex: 0 1 auto;
      width: auto;
      margin: 0;
      font-size: 0.9rem;
    }
    > div {
      flex: 1 1 18rem;
    }
    .cl-controls {
      margin: 0;
    }
    .cl-control {
      grid-template-columns: auto auto;
      align-items: center;
      gap: 0.4rem;
    }
    .cl-goals p {
      margin-top: 0.5rem;
    }
  }
`;

const ROW = 24,
  TOP = 28; // pixels

/** The row where the news of a word is after some ticks in order: it waits, then it is passed on. */
const carrier = ({ step, from, to }) => clamp(step - 1, from, to);

/** Words that have been read after some ticks, in order and at once. */
const read = ({ step }, count) => ({ order: Math.min(step, count), once: step > 0 ? count : 0 });

function build(root, width, words) {
  const left = width < 520 ? 68 : 92;
  const tick = (width - left - 24) / (words.length + 3.4);
  const x = (ticks) => left + ticks * tick,
    once = (ticks) => x(words.length + 1.4 + 2 * ticks),
    y = (row) => TOP + (row + 0.5) * ROW,
    bottom = TOP + words.length * ROW + 16;
  const spot = (r, colour = "var(--ink)") => drawing("circle", { r, fill: colour });
  const line = (kind, d, thin) =>
    drawing("g", { class: `cl-${kind}` }, drawing("path", { d, class: "cl-edge", style: thin }));

  root.append(
    label("in order", (x(0) + x(words.length)) / 2, 16, "cl-strong"),
    label("at once", (once(0) + once(1)) / 2, 16, "cl-strong"),
    label("tick", x(0), bottom, "cl-quiet"),
  );
  const names = words.map((word, row) =>
    group(root, { x: left - 14, y: y(row) + 4.5 }, label(word, 0, 0, "cl-end")),
  );
  const waits = words.map((_, row) => {
    const node = line("stream", "");
    return part(root, node, { t: 0 }, ({ t }) =>
      node.firstChild.setAttribute("d", `M${x(0)} ${y(row)}H${x(t)}`),
    );
  });
  // what has happened is seen, what is to come is not: [tick, part]
  const pairs = words.flatMap((_, a) =>
    words.map((_, b) => `M${once(0)} ${y(a)}L${once(1)} ${y(b)}`),
  );
  const looks = part(root, line("attention", pairs.join(""), "stroke-width: 0.6"), { o: 0 });
  const events = words.flatMap((_, row) => {
    const number = label(String(row + 1), 0, 0, "cl-quiet");
    const found = [
      group(root, { x: x(row + 1), y: bottom, o: 0 }, number),
      group(root, { x: x(row + 1), y: y(row), o: 0 }, spot(4.5)),
    ];
    if (row > 0) {
      const way = `M${x(row)} ${y(row - 1)}L${x(row + 1)} ${y(row)}`;
      found.push(part(root, line("stream", way), { o: 0 }));
    }
    return found.map((event) => [row + 1, event]);
  });
  const one = label("1", 0, 0, "cl-quiet");
  events.push([1, looks], [1, group(root, { x: once(1), y: bottom, o: 0 }, one)]);
  words.forEach((_, row) => {
    for (const at of [x(0), once(0)]) group(root, { x: at, y: y(row) }, spot(2.5));
    events.push([1, group(root, { x: once(1), y: y(row), o: 0 }, spot(4.5))]);
  });

  let start = 0; // the row of the word whose news is followed
  const trail = (path) => {
    const way = drawing("path", { fill: "none", stroke: "var(--first)", "stroke-width": 2.5 });
    root.append(way);
    return part(root, spot(7.5, "var(--first)"), {}, (now) => way.setAttribute("d", path(now)));
  };
  const news = {
    order: trail(
      ({ x: at, y: row }) => `M${x(0)} ${y(start)}H${Math.min(at, x(start + 1))}L${at} ${row}`,
    ),
    once: trail(({ x: at, y: row }) => `M${once(0)} ${y(start)}L${at} ${row}`),
  };

  function pose(value, { jump }) {
    const { step, from, to } = value;
    const row = carrier(value),
      moved = start !== from;
    start = from;
    names.forEach(({ node }, i) =>
      node.firstChild.classList.toggle("cl-strong", i === from || i === to),
    );
    waits.forEach((wait, i) => wait.to({ t: Math.min(step, i + 1) }, { jump }));
    events.forEach(([due, event]) => event.to({ o: step >= due ? 1 : 0 }, { jump }));
    const other = { jump: jump || moved };
    news.order.to({ x: x(Math.min(step, row + 1)), y: y(row) }, other);
    news.once.to({ x: once(step > 0 ? 1 : 0), y: y(step > 0 ? to : from) }, other);
  }
  return { height: bottom + 10, pose };
}

function render({ model, el }) {
  const { words } = model.get("data"),
    count = words.length;
  const state = connect(model);
  const numbered = (from, to) =>
    words.slice(from, to).map((word, i) => [from + i, `${from + i + 1}. ${word}`]);
  const ends = element(
    "div",
    { class: "cl-controls" },
    choice(state, "from", "the news of", numbered(0, count - 1), {
      change: (row, { to }) => ({ from: row, to: Math.max(to, row + 1) }),
    }),
    choice(state, "to", "to", numbered(1, count), {
      change: (row, { from }) => ({ to: row, from: Math.min(from, row - 1) }),
    }),
  );
  const scene = stage(state, "Two readers and a clock", (root, width) => build(root, width, words));

  const cell = (name) => element("td", { "data-name": name });
  const cells = {
    order: [cell("read"), cell("ticks"), cell("path")],
    once: [cell("read"), cell("ticks"), cell("path")],
  };
  const table = element(
    "table",
    { class: "cl-counts" },
    headRow(["", "read", "ticks", "path"].map(columnHead)),
    element("tbody", {}, tableRow("in order", ...cells.order), tableRow("at once", ...cells.once)),
  );
  state.draw((value) => {
    const now = read(value, count);
    const took = { order: count, once: 1 },
      steps = { order: value.to - value.from, once: 1 };
    for (const [way, [done, ticks, path]] of Object.entries(cells)) {
      write(done, now[way], 0);
      write(path, steps[way], 0);
      if (now[way] === count) write(ticks, took[way], 0);
      else {
        ticks.textContent = "…";
        delete ticks.dataset.value;
      }
    }
  });

  const news = (value) => {
    const { step, from, to } = value;
    if (step <= from) return `“${words[from]}” is still waiting for its turn.`;
    const far = step <= to ? "come as far as" : "reached";
    return `The news of “${words[from]}” has ${far} “${words[carrier(value)]}”.`;
  };
  const caption = (value) => {
    const { step } = value,
      [before, word] = [words[step - 2], words[step - 1]];
    if (step === 0) return "The words are there. Nobody has read anything yet.";
    if (step === count)
      return (
        `“${word}” is read at last, ${count} ticks for ${count} words: ` +
        "each state needs the one before."
      );
    if (step === 1)
      return (
        "At once, every word has looked at every word, and the reading is done. " +
        `In order, “${word}” has been read. ${news(value)}`
      );
    return `In order, “${word}” is read, with the state after “${before}”. ${news(value)}`;
  };
  const steps = Array.from({ length: count + 1 }, (_, i) => ({ name: `tick ${i}`, caption }));
  const puzzles = goals(state, [
    {
      text: "Find two words that are five steps apart in order.",
      reached: ({ from, to }) => to - from === 5,
    },
    {
      text: "Find two words that are one step apart either way.",
      reached: ({ from, to }) => to - from === 1,
    },
  ]);
  frame(
    el,
    "In order and all at once",
    scene,
    stepper(state, { steps, pace: 900 }),
    element("div", { class: "cl-unrolled" }, element("div", {}, ends, puzzles), table),
  );
  return state.close;
}

export default { render };
