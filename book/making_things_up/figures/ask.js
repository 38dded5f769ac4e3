// All names of a world as a square: the reader picks one, and sees what the model answers.

import { choice, connect, remember, tabs } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp } from "../../page/kit/numerics.js";
import { label, stage } from "../../page/kit/stage.js";
import { tableRow } from "../../page/kit/tables.js";

css`
  .cl-people {
    cursor: pointer;
  }
  .cl-people0 {
    fill: color-mix(in oklab, var(--ink) 9%, var(--ground));
  }
  .cl-people1 {
    fill: color-mix(in oklab, var(--first) 34%, var(--ground));
  }
  .cl-people2 {
    fill: color-mix(in oklab, var(--first) 66%, var(--ground));
  }
  .cl-people3 {
    fill: var(--first);
  }
  .cl-wrong {
    fill: var(--second);
  }
`;

const NOBODY = 0; // of `told`; else 1 more than how often, 3 for twice and more
const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** What the shades of a square say, the lightest first: texts, and the number of each name's shade. */
const SHADES = {
  told: {
    texts: ["nobody", "never told", "once", "twice or more"],
    of: ({ told }) => told,
  },
  sure: {
    texts: ["sure below .4", "to .6", "to .8", "above .8"],
    of: ({ sure }) => sure.map((p) => clamp(Math.floor((p / 255 - 0.2) / 0.2), 0, 3)),
  },
  right: {
    texts: ["nobody", "right", "wrong"],
    kinds: ["cl-people0", "cl-people2", "cl-wrong"],
    of: ({ told, best, truth }) =>
      told.map((n, i) => (n === NOBODY ? 0 : best[i] === truth[i] ? 1 : 2)),
  },
};
const kindsOf = ({ texts, kinds }) => kinds ?? texts.map((_, k) => `cl-people${k}`);

function build(root, width, { across, down, shown, pick }, { shade }) {
  const cell = Math.min(Math.floor(width / across), 4),
    side = cell * across;
  const left = Math.floor((width - side) / 2),
    bottom = cell * down;
  const { texts } = SHADES[shade];
  const kinds = kindsOf(SHADES[shade]);
  const shades = kinds.map((kind) => drawing("path", { class: kind }));
  const ring = drawing("rect", {
    width: cell + 6,
    height: cell + 6,
    class: "cl-line",
    style: "stroke-width: 2.5",
  });
  const square = drawing(
    "g",
    { class: "cl-people", "data-name": "square" },
    drawing("rect", { x: left, width: side, height: bottom, class: "cl-hit" }),
    shades,
    ring,
  );
  square.addEventListener("click", (event) => {
    const box = root.getBoundingClientRect();
    const unit = (root.viewBox.baseVal.width / box.width) * (1 / cell);
    const x = Math.floor((event.clientX - box.left) * unit - left / cell);
    const y = Math.floor((event.clientY - box.top) * unit);
    pick({ first: clamp(y, 0, down - 1), last: clamp(x, 0, across - 1) });
  });
  root.append(square);
  const room = width / texts.length;
  texts.forEach((text, k) => {
    const x = (k + 0.5) * room;
    root.append(
      drawing("rect", {
        x: x - 6,
        y: bottom + 9,
        width: 12,
        height: 12,
        class: kinds[k],
      }),
      label(text, x, bottom + 36, "cl-quiet"),
    );
  });
  function pose(value) {
    const of = SHADES[value.shade].of(shown(value));
    const ways = kinds.map(() => "");
    of.forEach((k, i) => {
      const x = left + cell * (i % across),
        y = cell * Math.floor(i / across);
      ways[k] += `M${x} ${y}h${cell - 1}v${cell - 1}h${1 - cell}z`;
    });
    shades.forEach((path, k) => path.setAttribute("d", ways[k]));
    ring.setAttribute("x", String(left + cell * value.last - 3.5));
    ring.setAttribute("y", String(cell * value.first - 3.5));
  }
  return { height: bottom + 42, pose };
}

function render({ model, el }) {
  const { firsts, lasts, answers, epochs, ...data } = model.get("data");
  const told = bytes(data.told),
    truth = bytes(data.truth);
  const found = Object.fromEntries(
    epochs.map(([epoch, ids, shares]) => {
      const likely = bytes(ids),
        sure = bytes(shares),
        shown = likely.length / told.length;
      const firstOf = (row) => told.map((_, i) => row[shown * i]);
      return [
        epoch,
        { told, truth, likely, shares: sure, shown, best: firstOf(likely), sure: firstOf(sure) },
      ];
    }),
  );
  const state = connect(model);
  const numberOf = ({ first, last }) => first * lasts.length + last;
  const person = remember(({ first, last, epoch }) => {
    const i = numberOf({ first, last }),
      { likely, shares, shown } = found[epoch];
    return {
      told: told[i],
      right: likely[shown * i] === truth[i],
      answers: Array.from({ length: shown }, (_, k) => [
        answers[likely[shown * i + k]],
        shares[shown * i + k] / 255,
      ]),
    };
  });
  const now = (value) => person({ first: value.first, last: value.last, epoch: value.epoch });
  const names = (list) => list.map((name, i) => [i, name]);
  const bars = Array.from({ length: found[epochs[0][0]].shown }, () => ({
    name: element("span"),
    number: element("td", { "data-name": "sure" }),
  }));
  state.draw((value) =>
    now(value).answers.forEach(([answer, share], k) => {
      bars[k].name.textContent = answer;
      write(bars[k].number, share);
    }),
  );
  const numbers = element(
    "table",
    {},
    element("caption", {}, "its likeliest answers"),
    element(
      "tbody",
      {},
      bars.map(({ name, number }) => tableRow(name, number)),
    ),
  );
  const KINDS = [
    "is nobody's name",
    "is a real person whose birthday it was never told",
    "is a person whose birthday it was told once",
    "is a person whose birthday it was told twice or more",
  ];
  const tell = (value) => {
    const { told: kind, right, answers: likely } = now(value);
    const truly = answers[truth[numberOf(value)]];
    const verdict =
      kind === NOBODY
        ? "There is no right answer."
        : right
          ? "It is right."
          : `It is wrong: the day is ${truly}.`;
    return `${firsts[value.first]} ${lasts[value.last]} ${KINDS[kind]}. After ${value.epoch} epochs the model answers ${likely[0][0]}, and is ${format(likely[0][1])} sure. ${verdict}`;
  };
  const last = epochs[epochs.length - 1][0];
  const somebody = (kind, above, right) => (i) =>
    told[i] === kind &&
    found[last].sure[i] / 255 > above &&
    (right === undefined || (found[last].best[i] === truth[i]) === right);
  const puzzles = [
    [
      "Find a stranger of whom it is more than .9 sure: a real person whose birthday it was never told.",
      somebody(1, 0.9),
    ],
    ["Find somebody who does not exist, of whom it is more than .95 sure.", somebody(0, 0.95)],
    ["Find a person whose birthday it was told once, and gets wrong.", somebody(2, 0, false)],
  ]
    .filter(([, fits]) => told.some((_, i) => fits(i)))
    .map(([text, fits]) => ({
      text: `${text} (${last} epochs)`,
      reached: (value) => value.epoch === last && fits(numberOf(value)),
    }))
    .filter(({ reached }) => !reached(state.value)); // it opens on somebody
  frame(
    el,
    "Ask it",
    element(
      "div",
      { class: "cl-controls" },
      choice(state, "first", "first name", names(firsts)),
      choice(state, "last", "last name", names(lasts)),
      choice(
        state,
        "epoch",
        "trained for",
        epochs.map(([epoch]) => [epoch, `${epoch} epochs`]),
      ),
    ),
    tabs(state, "shade", "what the shades say", [
      ["told", "how often told"],
      ["sure", "how sure"],
      ["right", "right or wrong"],
    ]),
    element(
      "div",
      { class: "cl-side" },
      element(
        "div",
        { style: "flex: 1 1 20rem; min-width: 0" },
        stage(
          state,
          "All names: first names from top to bottom, last names from left to right",
          (root, width, value) =>
            build(
              root,
              width,
              {
                across: lasts.length,
                down: firsts.length,
                shown: ({ epoch }) => found[epoch],
                pick: (place) => state.set(place),
              },
              value,
            ),
          { key: ({ shade }) => shade },
        ),
      ),
      numbers,
    ),
    announce(state, tell),
    goals(state, puzzles),
  );
  return state.close;
}

export default { render };
