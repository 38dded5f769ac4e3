// A bet on each change of a model; then a dot for each seed, over the band of the placebo.

import { scale } from "../../page/kit/axes.js";
import { choice, connect } from "../../page/kit/controls.js";
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
  .cl-trial svg {
    width: 100%;
    height: 30px;
    overflow: visible;
  }
  .cl-trial rect {
    fill: color-mix(in oklab, var(--quiet) 26%, var(--ground));
  }
  .cl-trial circle {
    fill: var(--first);
    transition: cx 0.7s;
  }
  .cl-trial svg:not(.cl-open) circle {
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
  const { changes, outcomes, limit } = model.get("data");
  const state = connect(model);
  const [control, ...parts] = changes;
  const all = changes.flatMap(({ effects }) => effects);
  const step = 0.02;
  const low = step * Math.floor(Math.min(...all) / step);
  const high = step * Math.ceil(Math.max(...all) / step);
  const across = scale([low, high], [2, 98]);
  const place = (effect) => `${across(effect)}%`;

  const strip = ({ name, effects }) => {
    const dots = effects.map((effect) =>
      drawing("circle", { r: 4.5, cy: 15, "data-value": String(effect) }),
    );
    const band = { x: place(-limit), width: `${across(limit) - across(-limit)}%` };
    const svg = drawing(
      "svg",
      { role: "img", "data-change": name },
      drawing("title"),
      drawing("rect", { ...band, y: 0, height: 30 }),
      drawing("line", { class: "cl-line", x1: place(0), x2: place(0), y1: 0, y2: 30 }),
      ...dots,
    );
    const open = (isOpen) => {
      svg.classList.toggle("cl-open", isOpen);
      dots.forEach((dot, i) => dot.setAttribute("cx", place(isOpen ? effects[i] : 0)));
      const told = effects.map((effect) => format(effect, 3)).join(", ");
      svg.firstChild.textContent = isOpen ? `${name}: ${told}` : `${name}: not shown yet`;
    };
    return { svg, open };
  };

  const row = (part) => {
    const { svg, open } = strip(part);
    const found = element("span", { "data-outcome": part.name });
    state.draw(({ bets: { guess, shown } }) => {
      open(shown);
      const mark = guess[part.name] === part.outcome ? "✓ " : "";
      found.textContent = shown ? mark + part.outcome : "";
    });
    const bet = choice(state, "bets", part.name, [["", "your bet"], ...outcomes], {
      at: ({ bets: { guess } }) => guess[part.name] ?? "",
      disabled: ({ bets: { shown } }) => shown,
      change: (option, { bets }) => ({
        bets: { ...bets, guess: { ...bets.guess, [part.name]: option } },
      }),
    });
    return element("div", {}, bet, svg, found);
  };

  const first = strip(control);
  first.open(true);
  const ticks = [];
  for (let at = 2 * Math.ceil(low / step / 2); at * step <= high; at += 2) ticks.push(at * step);
  const axis = drawing(
    "svg",
    { "aria-hidden": "true" },
    ...ticks.map((at) =>
      drawing(
        "text",
        { class: "cl-quiet", x: place(at), y: 14, "text-anchor": "middle" },
        format(at),
      ),
    ),
  );
  const made = (guess) => parts.filter(({ name }) => guess[name]);
  const right = (guess) => parts.filter(({ name, outcome }) => guess[name] === outcome).length;
  const none = parts.filter(({ outcome }) => outcome === outcomes[1]);
  const moved = parts.filter((part) => !none.includes(part)).map(({ name }) => name);
  const rows = [
    element("div", {}, element("b", {}, control.name), element("span"), first.svg, element("span")),
    ...parts.map(row),
    element("div", {}, element("span"), element("span"), axis, element("span")),
  ];
  frame(
    el,
    "Today's block on trial",
    predict(state, "bets", {
      question:
        "A dot for each seed: by how many nats per token a change moves the gap; left is better. The " +
        "band: twice what the placebo does at most. Which changes leave it with every seed?",
      input: element("div", { class: "cl-trial" }, rows),
    }),
    announce(state, ({ bets: { guess, shown } }) =>
      shown
        ? `${right(guess)} of your ${made(guess).length} bets are right. ` +
          `${moved.length} of ${parts.length} changes leave the band with every seed: ${moved.join("; ")}.`
        : `You have bet on ${made(guess).length} of ${parts.length} changes.`,
    ),
    goals(state, [
      {
        text: "Bet on every change, and look.",
        reached: ({ bets: { guess, shown } }) => shown && made(guess).length === parts.length,
      },
      {
        text: `Beat somebody who bets on “${outcomes[1]}” throughout.`,
        reached: ({ bets: { guess, shown } }) => shown && right(guess) > none.length,
      },
    ]),
  );
  return state.close;
}

export default { render };
