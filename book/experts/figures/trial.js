// A bet on each change of a model; then a dot for each seed, and their mean over the band of the placebos.

import { scale } from "../../page/kit/axes.js";
import { choice, connect, slider } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { predict } from "../../page/kit/predict.js";

css`
  .cl-trial {
    display: grid;
    grid-template-columns: minmax(9rem, auto) auto minmax(8rem, 1fr) 7.5rem;
    align-items: center;
    gap: 0 0.8rem;
  }
  .cl-trial > div,
  .cl-trial .cl-control {
    display: contents;
  }
  .cl-trial > div > :is(b, label) {
    font-weight: normal;
    color: var(--ink);
  }
  .cl-trial select {
    padding-top: 0;
    padding-bottom: 0;
    min-height: 24px;
  }
  .cl-trial svg {
    width: 100%;
    height: 20px;
    overflow: visible;
  }
  .cl-trial rect {
    fill: color-mix(in oklab, var(--quiet) 26%, var(--ground));
  }
  .cl-trial circle {
    fill: var(--first);
    fill-opacity: 0.45;
    transition: cx 0.7s;
  }
  .cl-trial .cl-mean {
    stroke: var(--ink);
    stroke-width: 3;
  }
  .cl-trial svg:not(.cl-open) :is(circle, .cl-mean),
  .cl-trial .cl-out {
    opacity: 0;
  }
  @media (prefers-reduced-motion: reduce) {
    .cl-trial circle {
      transition: none;
    }
  }
  @media (max-width: 620px) {
    .cl-trial {
      grid-template-columns: 1fr auto;
    }
    .cl-trial svg,
    .cl-trial [data-outcome] {
      margin-bottom: 0.5rem;
    }
  }
`;

function render({ model, el }) {
  const { changes, outcomes, bands } = model.get("data");
  const state = connect(model);
  const all = changes.flatMap(({ effects }) => effects);
  const step = 0.1;
  const low = step * Math.floor(Math.min(...all) / step);
  const high = step * Math.ceil(Math.max(...all) / step);
  const across = scale([low, high], [2, 98]);
  const place = (effect) => `${across(effect)}%`;
  const mean = (effects, n) => effects.slice(0, n).reduce((sum, x) => sum + x, 0) / n;
  const outcome = ({ effects }, n) => {
    const effect = mean(effects, n);
    return outcomes[Math.abs(effect) <= bands[n - 1] ? 1 : effect < 0 ? 0 : 2];
  };

  const row = (part) => {
    const { name, effects } = part;
    const dots = effects.map((effect) =>
      drawing("circle", { r: 4, cy: 10, "data-value": String(effect) }),
    );
    const band = drawing("rect", { y: 0, height: 20 });
    const average = drawing("line", { class: "cl-mean", y1: 1, y2: 19 });
    const svg = drawing(
      "svg",
      { role: "img", "data-change": name },
      drawing("title"),
      band,
      drawing("line", { class: "cl-line", x1: place(0), x2: place(0), y1: 0, y2: 20 }),
      ...dots,
      average,
    );
    const found = element("span", { "data-outcome": name });
    state.draw(({ bets: { guess, shown }, seeds }) => {
      svg.classList.toggle("cl-open", shown);
      const limit = bands[seeds - 1];
      band.setAttribute("x", place(-limit));
      band.setAttribute("width", `${across(limit) - across(-limit)}%`);
      dots.forEach((dot, i) => {
        dot.setAttribute("cx", place(shown ? effects[i] : 0));
        dot.classList.toggle("cl-out", i >= seeds);
      });
      for (const side of ["x1", "x2"])
        average.setAttribute(side, place(shown ? mean(effects, seeds) : 0));
      svg.firstChild.textContent = shown
        ? `${name}: ${effects
            .slice(0, seeds)
            .map((effect) => format(effect))
            .join(", ")}`
        : `${name}: not shown yet`;
      const is = outcome(part, seeds);
      found.textContent = shown ? (guess[name] === is ? "✓ " : "") + is : "";
    });
    const bet = choice(state, "bets", name, [["", "your bet"], ...outcomes], {
      at: ({ bets: { guess } }) => guess[name] ?? "",
      disabled: ({ bets: { shown } }) => shown,
      change: (option, { bets }) => ({
        bets: { ...bets, guess: { ...bets.guess, [name]: option } },
      }),
    });
    return element("div", {}, bet, svg, found);
  };

  const ticks = [];
  for (let at = 2 * Math.ceil(low / step / 2); at * step <= high; at += 2) ticks.push(at * step);
  const axis = drawing(
    "svg",
    { "aria-hidden": "true" },
    ...ticks.map((at) =>
      drawing(
        "text",
        { class: "cl-quiet", x: place(at), y: 14, "text-anchor": "middle" },
        format(at, 1),
      ),
    ),
  );
  const made = (guess) => changes.filter(({ name }) => guess[name]);
  const right = (guess, n) =>
    changes.filter((part) => guess[part.name] === outcome(part, n)).length;
  const leaving = (n) => changes.filter((part) => outcome(part, n) !== outcomes[1]);
  const rows = [
    ...changes.map(row),
    element("div", {}, element("span"), element("span"), axis, element("span")),
  ];
  const most = bands.length;
  const fewest = bands.findIndex((_, i) => leaving(i + 1).length === leaving(most).length) + 1;
  frame(
    el,
    "Today's block on trial",
    predict(state, "bets", {
      question: "By how many nats does each change move the gap? Left is better.",
      input: element("div", { class: "cl-trial" }, rows),
    }),
    slider(state, "seeds", "number of seeds", { min: 1, max: most }),
    announce(state, ({ bets: { guess, shown }, seeds }) =>
      shown
        ? `Seeds: ${seeds}; band: ±${format(bands[seeds - 1])}. ${right(guess, seeds)} of your ` +
          `${made(guess).length} bets are right. ${leaving(seeds).length} of ${changes.length} changes leave the band.`
        : `Seeds: ${seeds}; band: ±${format(bands[seeds - 1])}. You have bet on ${made(guess).length} of ` +
          `${changes.length} changes.`,
    ),
    goals(state, [
      {
        text: `Bet on four changes or more, and beat somebody who says “${outcomes[1]}” of these.`,
        reached: ({ bets: { guess, shown }, seeds }) =>
          shown &&
          made(guess).length >= 4 &&
          right(guess, seeds) >
            made(guess).filter((part) => outcome(part, seeds) === outcomes[1]).length,
      },
      {
        text: "Find the fewest seeds with which as many changes leave the band as with all.",
        reached: ({ bets: { shown }, seeds }) => shown && seeds === fewest,
      },
    ]),
  );
  return state.close;
}

export default { render };
