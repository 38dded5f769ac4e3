// Three intervals for a share of right answers, and how often each holds the true share.

import { scale } from "../../page/kit/axes.js";
import { connect, remember, slider, tabs } from "../../page/kit/controls.js";
import { announce, drawing, element, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { answerList } from "../../page/kit/tables.js";

const Z = 1.96;

/** The probabilities of 0 to n right answers, each right with probability p. */
function binomial(n, p) {
  const found = Array.from({ length: n + 1 }, () => 0);
  if (p >= 1) found[n] = 1;
  else {
    found[0] = (1 - p) ** n;
    for (let k = 1; k <= n; k++) found[k] = (found[k - 1] * (n - k + 1) * p) / (k * (1 - p));
  }
  return found;
}

function wald(k, n) {
  const half = Z * Math.sqrt(((k / n) * (1 - k / n)) / n);
  return [k / n - half, k / n + half];
}

/** The bootstrap's interval after infinitely many draws. */
function bootstrap(k, n) {
  let below = 0;
  const sums = binomial(n, k / n).map((chance) => (below += chance));
  return [0.025, 0.975].map((tail) => sums.filter((sum) => sum < tail).length / n);
}

function wilson(k, n) {
  const share = k / n,
    room = 1 + (Z * Z) / n;
  const middle = (share + (Z * Z) / (2 * n)) / room;
  const half = (Z / room) * Math.sqrt((share * (1 - share)) / n + (Z * Z) / (4 * n * n));
  return [middle - half, middle + half];
}

const WAYS = { Wald: wald, bootstrap, Wilson: wilson };
const NAMES = Object.keys(WAYS);
const CLOSE = 1e-9; // an end that is the true share, but for rounding, holds it

const holds = ([low, high], p) => low <= p + CLOSE && p <= high + CLOSE;

/** How often each interval holds the true share. */
const covered = ({ n: asked, percent }) => {
  const n = Number(asked);
  const p = percent / 100;
  const chances = binomial(n, p);
  return NAMES.map((name) =>
    chances.reduce((sum, chance, k) => sum + (holds(WAYS[name](k, n), p) ? chance : 0), 0),
  );
};

function build(root, width) {
  const left = 84,
    right = width - 18;
  const height = 152;
  const x = scale([0, 1.1], [left, right]);
  for (const tick of [0, 0.25, 0.5, 0.75, 1])
    root.append(
      drawing("path", { class: "cl-axis", d: `M${x(tick)} 22V${height - 22}` }),
      label(`${100 * tick} %`, x(tick), height - 5, "cl-quiet"),
    );
  const truth = part(
    root,
    drawing(
      "g",
      {},
      drawing("path", {
        class: "cl-line",
        style: "stroke: var(--second); stroke-width: 2.2",
        "stroke-dasharray": "6 4",
        d: `M0 18V${height - 22}`,
      }),
      label("true share", 0, 12, "cl-strong cl-end"),
    ),
  );
  const bars = NAMES.map((name, i) => {
    const y = 44 + 34 * i;
    const line = drawing("path", {
      class: "cl-line",
      "data-interval": name,
      style: "stroke: var(--first); stroke-width: 4",
    });
    root.append(label(name, left - 12, y + 4, "cl-end"), line);
    const dot = part(root, drawing("circle", { r: 4.5, style: "fill: var(--ink)" }), { y });
    return { name, y, line, dot };
  });
  function pose({ n: asked, right: k, percent }, { jump }) {
    const n = Number(asked);
    truth.to({ x: x(percent / 100) }, { jump });
    for (const { name, y, line, dot } of bars) {
      const [low, high] = WAYS[name](k, n);
      const ends = [low, high].map((end) => `M${x(end)} ${y - 7}v14`).join("");
      line.setAttribute("d", `${ends}M${x(low)} ${y}H${x(high)}`);
      line.style.opacity = holds([low, high], percent / 100) ? "1" : "0.4";
      dot.to({ x: x(k / n) }, { jump });
    }
  }
  return { height, pose };
}

function render({ model, el }) {
  const { counts } = model.get("data");
  const state = connect(model);
  const shares = remember(covered);
  const coverage = ({ n, percent }) => shares({ n, percent });
  const tell = ({ n: asked, right: k, percent }) => {
    const n = Number(asked);
    const missed = NAMES.filter((name) => !holds(WAYS[name](k, n), percent / 100));
    const now =
      missed.length === 0
        ? `all three intervals hold the true ${percent} %`
        : `${missed.join(" and ")} ${missed.length > 1 ? "miss" : "misses"} the true ${percent} %`;
    return `With ${k} of ${n} right, ${now}.`;
  };
  const puzzles = [
    {
      text: "Find a result at which Wald's bar has no length.",
      reached: ({ n, right: k }) => k === Number(n) || k === 0,
    },
    {
      text: "Find a true share that the bootstrap holds in less than half of all cases.",
      reached: (value) => coverage(value)[1] < 0.5,
    },
    {
      text: "Make Wald fail with 160 questions, too: let it hold the true share in less than 80 % of all cases.",
      reached: (value) => value.n === "160" && coverage(value)[0] < 0.8,
    },
  ];
  frame(
    el,
    "Three error bars for one result",
    tabs(
      state,
      "n",
      "questions",
      counts.map((n) => [String(n), `${n} questions`]),
      (n) => {
        const { right: k, n: before } = state.value;
        return { n, right: Math.round((k / Number(before)) * Number(n)) };
      },
    ),
    stage(state, "Intervals for the share of right answers", (root, width) => build(root, width)),
    element(
      "div",
      { class: "cl-side" },
      element(
        "div",
        { class: "cl-controls" },
        slider(state, "right", "right answers", { min: 0, max: ({ n }) => Number(n) }),
        slider(state, "percent", "true share, %", { min: 50, max: 99 }),
      ),
      element(
        "div",
        {},
        element("p", { style: "margin: 0" }, "How often each holds the true share:"),
        answerList(state, "coverage", (value) =>
          NAMES.map((name, i) => [name, coverage(value)[i]]),
        ),
      ),
    ),
    announce(state, tell),
    goals(state, puzzles),
  );
  return state.close;
}

export default { render };
