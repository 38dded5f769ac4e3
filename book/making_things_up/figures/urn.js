// Balls drawn with replacement; the share seen once foretells how often the next ball is a new one.

import { scale } from "../../page/kit/axes.js";
import { button, connect, remember, slider, toggle } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { randomAt } from "../../page/kit/numerics.js";
import { label, part, stage } from "../../page/kit/stage.js";

css`
  .cl-ball0 {
    fill: none;
    stroke: var(--quiet);
  }
  .cl-ball1 {
    fill: var(--second);
    stroke: var(--second);
  }
  .cl-ball2 {
    fill: color-mix(in oklab, var(--first) 55%, var(--ground));
    stroke: var(--first);
  }
`;

const KINDS = ["never drawn", "drawn once", "more often"];

/** How often each ball was drawn, the share of draws seen once, and the chance of a new ball. */
function drawn({ balls }, { tail, draws, urn, distinct }) {
  const sums = [];
  let sum = 0;
  for (let k = 1; k <= balls; k++) sums.push((sum += k ** -tail));
  const counts = new Array(balls).fill(0);
  for (let i = 0; i < draws; i++) {
    const u = randomAt(urn, i) * sum;
    let low = 0,
      high = balls - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] > u) high = middle;
      else low = middle + 1;
    }
    counts[low] += 1;
  }
  const seen = counts.filter((n) => n > 0).length,
    once = counts.filter((n) => n === 1).length;
  const missing = counts.reduce((total, n, k) => (n ? total : total + (k + 1) ** -tail / sum), 0);
  return { counts, seen, estimate: distinct ? 1 : once / draws, missing };
}

function build(root, width, { balls, result }) {
  const side = Math.round(balls ** 0.5);
  const cell = Math.min(Math.floor(width / side), 13);
  const left = Math.floor((width - cell * side) / 2),
    bottom = cell * side;
  const circles = Array.from({ length: balls }, (_, k) =>
    drawing("circle", {
      cx: left + cell * ((k % side) + 0.5),
      cy: cell * (Math.floor(k / side) + 0.5),
      r: cell / 2 - 1.5,
    }),
  );
  root.append(...circles);
  const room = width / KINDS.length;
  KINDS.forEach((text, k) => {
    const x = (k + 0.5) * room;
    root.append(
      drawing("circle", { cx: x, cy: bottom + 16, r: 5, class: `cl-ball${k}` }),
      label(text, x, bottom + 38, "cl-quiet"),
    );
  });
  const wide = [150, width - 52],
    x = scale([0, 1], wide);
  const bars = ["seen once, of the draws", "next ball is new"].map((text, k) => {
    const y = bottom + 54 + 24 * k;
    const bar = drawing("rect", {
      x: wide[0],
      y,
      height: 16,
      style: `fill: var(${k ? "--quiet" : "--second"})`,
    });
    const number = label("", 0, y + 13, "cl-strong cl-start");
    number.dataset.name = k ? "missing" : "estimate";
    root.append(label(text, wide[0] - 8, y + 13, "cl-end"), bar, number);
    const moving = part(root, drawing("g", {}), { w: 0 }, ({ w }) => {
      bar.setAttribute("width", String(Math.max(0, w)));
      number.setAttribute("x", String(wide[0] + w + 6));
    });
    return { number, moving };
  });
  function pose(value, { jump }) {
    const { counts, estimate, missing } = result(value);
    counts.forEach((n, k) => circles[k].setAttribute("class", `cl-ball${Math.min(n, 2)}`));
    [estimate, missing].forEach((share, k) => {
      write(bars[k].number, share);
      bars[k].moving.to({ w: x(share) - wide[0] }, { jump });
    });
  }
  return { height: bottom + 104, pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const state = connect(model);
  const result = remember((value) => drawn(data, value));
  const tell = (value) => {
    const { seen, estimate, missing } = result(value);
    const about = value.distinct
      ? "Without its duplicates every ball of the list stands there once, and the estimate is 1 whatever the truth"
      : `Of the draws ${format(100 * estimate, 0)} % are balls seen once`;
    return `${value.draws} draws have shown ${seen} of ${data.balls} balls. ${about}. The next ball is a new one with probability ${format(missing)}.`;
  };
  const half = data.balls / 2;
  const puzzles = [
    {
      text: "Draw until half of the balls have been seen, with a tail of 1.",
      reached: (value) => value.tail === 1 && result(value).seen >= half,
    },
    {
      text: "Let the next ball be a known one with probability .9, while more than half of the balls were never drawn.",
      reached: (value) => result(value).missing <= 0.1 && result(value).seen < half,
    },
    {
      text: "Make the estimate wrong by more than .8.",
      reached: (value) => Math.abs(result(value).estimate - result(value).missing) > 0.8,
    },
  ].filter(({ reached }) => !reached(state.value));
  frame(
    el,
    "The urn",
    stage(state, "The balls, and two shares", (root, width) =>
      build(root, width, { balls: data.balls, result }),
    ),
    element(
      "div",
      { class: "cl-controls" },
      slider(state, "draws", "draws", { min: 10, max: data.most, step: 10 }),
      slider(state, "tail", "tail", {
        min: 0,
        max: 1.6,
        step: 0.2,
        describe: (tail) => format(tail, 1),
      }),
      toggle(state, "distinct", "remove duplicates from the list"),
      button(state, "draw anew", ({ urn }) => ({ urn: urn + 1 })),
    ),
    announce(state, tell),
    goals(state, puzzles),
  );
  return state.close;
}

export default { render };
