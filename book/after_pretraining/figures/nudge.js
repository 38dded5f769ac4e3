// One group of answers to one request: rewards, advantages, and what steps of REINFORCE do to the
// probabilities. Each answer has a logit of its own, so the gradient is exact.

import { connect, remember, slider, toggle } from "../../page/kit/controls.js";
import { css, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { softmax } from "../../page/kit/numerics.js";
import { arrow } from "../../page/kit/parts.js";
import { part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

css`
  .cl-nudge .cl-steps div {
    display: none; /* the line below says which of the steps it is */
  }
`;

const RATE = 0.2,
  MOST = 60;

const sum = (row) => row.reduce((total, number) => total + number, 0);
const advantages = ({ rewards, baseline }) => {
  const mean = baseline ? sum(rewards) / rewards.length : 0;
  return rewards.map((reward) => reward - mean);
};

/** The probabilities after `moves` steps up the gradient of Σ A log p − β KL(p ‖ p₀). */
function moved(chances, { rewards, baseline, beta }, moves) {
  const A = advantages({ rewards, baseline }),
    total = sum(A);
  let logits = chances.map(Math.log),
    p = chances;
  for (let move = 0; move < moves; move++) {
    const away = p.map((share, i) => Math.log(share / chances[i]));
    const kl = sum(p.map((share, i) => share * away[i]));
    logits = logits.map((z, i) => z + RATE * (A[i] - p[i] * total - beta * p[i] * (away[i] - kl)));
    p = softmax(logits);
  }
  return p;
}

const signed = (number) => `${number > 0 ? "+" : ""}${format(number)}`;
const [ANSWERS, REWARDS, ADVANTAGES, MOVE] = [0, 1, 2, 3];

function build(root, width, { chances, answers }, result) {
  const left = 4,
    full = width - 64,
    row = 38,
    origin = left + 0.4 * full; // where every advantage begins
  const lines = answers.map((words, i) => {
    const top = 8 + i * row;
    const verdict = drawing("tspan", { class: "cl-strong" });
    root.append(
      drawing("text", { x: left, y: top + 11, class: "cl-start" }, verdict, `${i + 1} ${words}`),
      drawing("rect", { class: "cl-unit", x: left, y: top + 14, width: full, height: 10, rx: 2 }),
    );
    const bar = drawing("rect", { height: 10, rx: 2, style: "fill: var(--first)" });
    const share = part(root, bar, { x: left, y: top + 14, w: 0 }, ({ w }) =>
      bar.setAttribute("width", Math.max(0, w)),
    );
    const first = left + chances[i] * full;
    root.append(drawing("path", { class: "cl-line", d: `M${first} ${top + 12}v14` }));
    const number = drawing("text", { x: left + full + 8, y: top + 23, class: "cl-start" });
    number.dataset.name = "share";
    root.append(number);
    const from = { x1: origin, x2: origin, y1: top + 31, y2: top + 31, w: 2.5, o: 0 };
    const push = arrow(root, "stream", from);
    const said = drawing("text", { y: top + 35, "data-name": "advantage" });
    return { verdict, share, number, push, said: part(root, said) };
  });
  const pose = (value, { jump }) => {
    const p = result(value),
      A = advantages(value);
    lines.forEach(({ verdict, share, number, push, said }, i) => {
      const passes = value.rewards[i] ? "✓ " : "✗ ";
      verdict.textContent = value.step >= REWARDS ? passes : "";
      share.to({ w: p[i] * full }, { jump, ms: 200 });
      write(number, p[i]);
      const seen = value.step >= ADVANTAGES && A[i] !== 0 ? 1 : 0;
      const tip = origin + A[i] * full * 0.3;
      push.to({ x2: tip, o: seen }, { jump });
      write(said.node, A[i]).textContent = signed(A[i]);
      const aside = tip + 26 * Math.sign(A[i]);
      said.to({ x: aside, o: value.step >= ADVANTAGES ? 1 : 0 }, { jump });
    });
  };
  return { height: 8 + answers.length * row, pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const { request, answers, chances } = data;
  const state = connect(model);
  const after = remember(({ step, moves, ...rest }) =>
    moved(chances, rest, step === MOVE ? moves : 0),
  );
  const result = ({ step, moves, rewards, baseline, beta }) =>
    after({ step, moves, rewards, baseline, beta });
  const passing = (p, { rewards }) => sum(p.filter((_, i) => rewards[i]));
  const picture = stage(state, `Answers to “${request}”`, (root, width) =>
    build(root, width, data, result),
  );
  const boxes = answers.map((_, i) => {
    const name = { name: `passes${i + 1}`, "aria-label": `${i + 1} passes` };
    const input = element("input", { type: "checkbox", ...name });
    input.addEventListener("change", () =>
      state.set({
        rewards: state.value.rewards.map((old, j) => (i === j ? Number(input.checked) : old)),
      }),
    );
    state.draw(({ rewards }) => {
      input.checked = rewards[i] === 1;
    });
    return element("label", { class: "cl-control cl-inline" }, input, String(i + 1));
  });
  const mean = ({ rewards }) => sum(rewards) / rewards.length;
  const captions = [
    () => `Six answers to “${request}”, and the share of each among them, lengths evened out.`,
    (value) =>
      `The judge says which pass: ${sum(value.rewards)} of ${answers.length}. You may overrule it with the boxes.`,
    (value) =>
      value.baseline
        ? `An arrow is the reward minus the mean of the group, ${format(mean(value))}: the advantage.`
        : "Without a baseline the advantage is the reward itself: no arrow points to the left.",
    (value) =>
      value.moves === 0
        ? "Nothing has moved yet. Drag “steps taken” and watch which bars grow."
        : `After ${value.moves} ${value.moves === 1 ? "step" : "steps"} the answers that pass have ${format(passing(result(value), value))} together; they had ${format(passing(chances, value))}.`,
  ].map((caption) => (value) => caption(value).replace("Six", numberWord(answers.length)));
  const names = ["answers", "rewards", "advantages", "steps"];
  const steps = names.map((name, i) => ({ name, caption: captions[i] }));
  const disabled = ({ step }) => step !== MOVE;
  const moves = slider(state, "moves", "steps taken:", { min: 0, max: MOST, disabled });
  const gained = (value) => passing(result(value), value) - passing(chances, value);
  frame(
    el,
    "A step towards the reward",
    picture,
    element("div", { class: "cl-nudge" }, stepper(state, { steps })),
    element(
      "div",
      { class: "cl-controls" },
      element("span", {}, "passes:"),
      boxes,
      toggle(state, "baseline", "subtract the mean of the group"),
    ),
    element(
      "div",
      { class: "cl-controls" },
      slider(state, "beta", "penalty β =", {
        min: 0,
        max: 10,
        step: 0.5,
        describe: (number) => format(number, 1),
      }),
      moves,
    ),
    goals(state, [
      {
        text: "With the mean subtracted, find verdicts from which this group learns nothing.",
        reached: (value) =>
          value.baseline && value.step >= ADVANTAGES && advantages(value).every((a) => a === 0),
      },
      {
        text: "Without it, find verdicts that take probability from an answer that passes.",
        reached: (value) =>
          !value.baseline &&
          result(value).some((share, i) => value.rewards[i] && share < chances[i] - 1e-9),
      },
      {
        text: `With it, after ${MOST} steps: choose β so that those that pass gain less than 0.25.`,
        reached: (value) =>
          value.step === MOVE &&
          value.moves === MOST &&
          value.baseline &&
          value.beta > 0 &&
          gained(value) > 0.02 &&
          gained(value) < 0.25,
      },
    ]),
  );
  return state.close;
}

const numberWord = (n) => ["Two", "Three", "Four", "Five", "Six", "Seven", "Eight"][n - 2];

export default { render };
