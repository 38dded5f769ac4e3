// Two copies of a model, the same questions, and the reader's choice of how they are asked and scored.

import { scale } from "../../page/kit/axes.js";
import { button, choice, connect, remember, slider, tabs } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { tableRow } from "../../page/kit/tables.js";

const Z = 1.959964;
const CHANCE = 0.25;

/** Wilson's interval for k of n. */
function wilson(k, n) {
  const share = k / n,
    room = 1 + (Z * Z) / n;
  const middle = (share + (Z * Z) / (2 * n)) / room;
  const half = (Z / room) * Math.sqrt((share * (1 - share)) / n + (Z * Z) / (4 * n * n));
  return [middle - half, middle + half];
}

/** McNemar's test: how often a fair coin is at least as uneven as a against b. */
function mcnemar(a, b) {
  let term = 2 ** -(a + b),
    tail = 0;
  for (let i = 0; i <= Math.min(a, b); i++) {
    tail += term;
    term *= (a + b - i) / (i + 1);
  }
  return Math.min(1, 2 * tail);
}

/** What the two copies score on the questions that are asked. */
function scored({ right, copies, orders }, { form, scorer, copy, count, order }) {
  const asked = orders[order].slice(0, count);
  const [whole, other] = [copies[0], copy].map((name) => right[form][scorer][name]);
  const both = asked.map((i) => [whole[i] === "1", other[i] === "1"]);
  const hits = [0, 1].map((side) => both.filter((pair) => pair[side]).length);
  const alone = [0, 1].map((side) => both.filter((pair) => pair[side] && !pair[1 - side]).length);
  return { hits, alone, p: mcnemar(alone[0], alone[1]) };
}

const percent = (share) => `${format(100 * share, 0)} %`;

/** Two bars with their intervals, and a line where guessing is. */
function build(root, width, result) {
  const left = width < 480 ? 76 : 104,
    right = width - 46;
  const height = 150,
    rows = [26, 80];
  const x = scale([0, 1], [left, right]);
  for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
    const dash = tick === CHANCE ? "5 4" : "none";
    root.append(
      drawing("path", {
        class: tick === CHANCE ? "cl-line" : "cl-axis",
        "stroke-dasharray": dash,
        d: `M${x(tick)} 8V${height - 36}`,
      }),
      label(percent(tick), x(tick), height - 20, "cl-quiet"),
    );
  }
  root.append(label("guessing", x(CHANCE), height - 4, "cl-quiet"));
  const bars = rows.map((top, side) => {
    const name = label("", left - 10, top + 19, "cl-end");
    const bar = drawing("rect", {
      x: left,
      y: top,
      height: 28,
      style: `fill: var(${side ? "--second" : "--first"}); opacity: 0.55`,
    });
    const error = drawing("path", {
      class: "cl-line",
      style: "stroke: var(--ink); stroke-width: 2",
    });
    const number = label("", 0, top + 19, "cl-strong cl-start");
    root.append(name, bar, error, number);
    const moving = part(root, drawing("g", {}), { x: x(0) }, (now) => {
      bar.setAttribute("width", String(Math.max(0, now.x - left)));
    });
    return { top, name, error, number, moving };
  });
  function pose(value, { jump }) {
    const { hits } = result(value);
    bars.forEach(({ top, name, error, number, moving }, side) => {
      const share = hits[side] / value.count;
      const [low, high] = wilson(hits[side], value.count);
      name.textContent = side ? value.copy : "whole";
      number.textContent = percent(share);
      number.setAttribute("x", String(Math.min(x(high) + 8, width - 40)));
      const y = top + 14;
      error.setAttribute(
        "d",
        `M${x(low)} ${y - 6}v12M${x(low)} ${y}H${x(high)}M${x(high)} ${y - 6}v12`,
      );
      moving.to({ x: x(share) }, { jump });
    });
  }
  return { height, pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const { copies, right, orders } = data;
  const most = orders[0].length;
  const state = connect(model);
  const result = remember((value) => scored(data, value));
  const picture = stage(state, "Share of questions that each copy answers rightly", (root, width) =>
    build(root, width, result),
  );
  const scorersOf = (form) => Object.keys(right[form]);
  const controls = element(
    "div",
    { class: "cl-controls" },
    choice(state, "form", "asked as", Object.keys(right), {
      change: (form, { scorer }) => ({
        form,
        scorer: scorersOf(form).includes(scorer) ? scorer : scorersOf(form)[0],
      }),
    }),
    choice(state, "scorer", "scored by", ({ form }) => scorersOf(form)),
    button(state, "draw other questions", ({ order }) => ({ order: (order + 1) % orders.length }), {
      draw: (node, { count }) => {
        node.disabled = count === most;
      },
    }),
  );
  const names = ["whole", "other", "whole-alone", "other-alone", "p"];
  const cells = names.map((name) => element("td", { "data-name": name }));
  state.draw((value) => {
    const { hits, alone, p } = result(value);
    [...hits, ...alone].forEach((number, i) => write(cells[i], number, 0));
    write(cells[4], p, 3);
  });
  const numbers = element(
    "table",
    {},
    element(
      "tbody",
      {},
      tableRow("right: whole, damaged", cells[0], cells[1]),
      tableRow("right alone: whole, damaged", cells[2], cells[3]),
      tableRow("McNemar's p", cells[4], element("td")),
    ),
  );
  const DAMAGE = { [copies[1]]: "weights rounded again", [copies[2]]: "block cut" };
  const tell = ({ hits, alone, p }, { copy, count }) => {
    const lead = hits[0] - hits[1];
    const who =
      lead === 0
        ? "The copies are level"
        : `The ${lead > 0 ? "whole model" : `copy with the ${DAMAGE[copy]}`} is ahead`;
    const sure =
      p < 0.05 ? "a fair coin is seldom so uneven" : "a fair coin is often at least so uneven";
    return `${who} by ${Math.abs(lead)} of ${count} questions. They differ on ${alone[0] + alone[1]}, and ${sure} (p ${format(p, 3)}).`;
  };
  const all = Object.entries(right).flatMap(([form, scorers]) =>
    Object.keys(scorers).flatMap((scorer) =>
      copies.slice(1).map((copy) => scored(data, { form, scorer, copy, count: most, order: 0 })),
    ),
  );
  const ahead = ({ hits }) => hits[1] > hits[0];
  const puzzles = [
    {
      text: `Make a damaged copy win, with all ${most} questions.`,
      possible: all.some(ahead),
      reached: (value) => value.count === most && ahead(result(value)),
    },
    {
      text: "Make it win so clearly that p is below 0.05, again with all of them.",
      possible: all.some((found) => ahead(found) && found.p < 0.05),
      reached: (value) => value.count === most && ahead(result(value)) && result(value).p < 0.05,
    },
    {
      text: "Bring the whole model below 25 %, which is what guessing scores.",
      possible: all.some(({ hits }) => hits[0] < CHANCE * most),
      reached: (value) => value.count === most && result(value).hits[0] < CHANCE * most,
    },
  ].filter(({ possible }) => possible);
  frame(
    el,
    "Make the worse model win",
    tabs(state, "copy", "the damage", copies.slice(1)),
    controls,
    picture,
    element(
      "div",
      { class: "cl-side" },
      slider(state, "count", "questions", { min: 20, max: most, step: 20 }),
      numbers,
    ),
    announce(state, (value) => tell(result(value), value)),
    goals(state, puzzles),
  );
  return state.close;
}

export default { render };
