// The score of two sums, word + position, multiplied out: four matrices appear one by one, and
// above them their sum so far.

import { matrix } from "../../page/kit/cells.js";
import { choice, connect } from "../../page/kit/controls.js";
import { element, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { html } from "../../page/kit/html.js";
import { add, matmul, transpose } from "../../page/kit/numerics.js";
import { sinusoid } from "../../page/kit/sinusoids.js";
import { label, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

const NAMES = ["x xᵀ", "x pᵀ", "p xᵀ", "p pᵀ"];
const KINDS = ["stream", "position", "position", "position"];

/** Vectors of the chosen words, addresses of their positions, and the four parts of all scores. */
function multiplied({ vectors }, { first, last }) {
  const x = [first, "loves", last].map((word) => vectors[word]),
    p = x.map((row, place) => sinusoid(place, row.length));
  const scores = (rows, columns) => matmul(rows, transpose(columns));
  return { x, p, terms: [scores(x, x), scores(x, p), scores(p, x), scores(p, p)] };
}

const zeros = (matrix) => matrix.map((row) => row.map(() => 0));

/** Sum of the terms that have appeared by a step: one in step 1, all four in step 4 and 5. */
const sumSoFar = (terms, step) => terms.slice(0, step).reduce(add, zeros(terms[0]));

const STEPS = [
  {
    name: "the sums",
    caption: () =>
      html`Each word has a vector <b class="cl-stream">x</b>, each position an address <b class="cl-position">p</b>. Attention gets the sums. Multiply out the product of two sums, and four matrices appear: rows ask, columns are asked.`,
  },
  {
    name: NAMES[0],
    caption:
      "Word with word. Without positions this is all there is. Exchange two words, and their rows and columns are exchanged.",
  },
  {
    name: NAMES[1],
    caption:
      "Word with position. “loves” could ask for the position before it, whoever stands there.",
  },
  {
    name: NAMES[2],
    caption: "Position with word. The third position could ask for Alice, wherever she is.",
  },
  {
    name: NAMES[3],
    caption:
      "Position with position. It knows no words. Along each diagonal the number is the same, the cosine of the distance.",
  },
  {
    name: "the score",
    caption: ({ first, last }) =>
      first === last
        ? `The four add up to the scores. “${first}” stands here twice: equal rows in x xᵀ, different rows in the sum.`
        : "The four add up to the scores. One matrix serves all four, so the model cannot set them one by one.",
  },
];

/** The scene: x + p = what attention gets, and where there is room the sum of the terms so far; below,
    the terms in one row or two. */
function build(data, state) {
  return (root, width) => {
    const wide = width >= 640,
      cell = wide ? 46 : 40,
      height = 26,
      block = 3 * cell,
      left = 46,
      gap = wide ? (width - left - 4 * block) / 3 : 18;
    const start = multiplied(data, state.value);
    const words = [];
    const names = (top) =>
      [0, 1, 2].forEach((i) => {
        const text = label("", left - 8, top + i * height + 18, "cl-end cl-strong");
        words.push([text, i]);
        root.append(text);
      });

    const two = 2 * cell,
      space = Math.min(40, (width - left - 3 * two) / 2);
    const sums = [
      [start.x, "stream", "x"],
      [start.p, "position", "p"],
      [add(start.x, start.p), "stream", "x + p"],
    ].map(([rows, kind, title], i) =>
      matrix(root, rows, kind, {
        title,
        cell,
        height,
        name: ["x", "p", "sum"][i],
        first: { x: left + i * (two + space), y: 22 },
      }),
    );
    names(22);
    ["+", "="].forEach((sign, i) =>
      root.append(label(sign, left + (i + 1) * two + (i + 0.5) * space, 66)),
    );

    const top = 22 + 3 * height + 42,
      across = wide ? 4 : 2,
      row = 3 * height + 40;
    const parts = start.terms.map((rows, i) =>
      matrix(root, rows, KINDS[i], {
        title: NAMES[i],
        cell,
        height,
        most: 4,
        name: `term-${i}`,
        first: {
          x: left + (i % across) * (block + gap),
          y: top + Math.floor(i / across) * row,
          o: 0.15,
        },
      }),
    );
    for (let i = 0; i < 4; i += across) names(top + (i / across) * row);
    const bottom = top + (4 / across) * row;
    const total = matrix(root, start.terms[0], "attention", {
      title: "sum so far",
      cell,
      height,
      most: 6,
      name: "total",
      first: wide ? { x: left + 3 * (block + gap), y: 22 } : { x: left, y: bottom },
    });
    if (!wide) names(bottom);

    return {
      height: wide ? bottom - 22 : bottom + 3 * height + 8,
      pose(value, options) {
        const { x, p, terms } = multiplied(data, value);
        const { step, first, last } = value;
        [x, p, add(x, p)].forEach((rows, i) => sums[i].set(rows));
        words.forEach(([text, i]) => {
          text.textContent = [first, "loves", last][i];
        });
        parts.forEach((term, i) => {
          term.set(terms[i]);
          const o = step === 5 || step === i + 1 ? 1 : step > i + 1 ? 0.55 : 0.15;
          term.to({ o }, options);
        });
        total.set(sumSoFar(terms, Math.min(step, 4)));
        total.to({ o: step ? 1 : 0.15 }, options);
      },
    };
  };
}

function render({ model, el }) {
  const data = model.get("data");
  const state = connect(model);
  const words = Object.keys(data.vectors);
  const controls = element(
    "div",
    { class: "cl-controls" },
    choice(state, "first", "first word", words),
    choice(state, "last", "last word", words),
  );
  const puzzles = goals(state, [
    {
      text: "Exchange Alice and Bob, and step to the term that has not changed.",
      reached: ({ first, last, step }) => first === "Bob" && last === "Alice" && step === 4,
    },
    {
      text: "Take the same word twice. Which terms tell the two apart? End at the score.",
      reached: ({ first, last, step }) => first === last && step === 5,
    },
  ]);
  frame(
    el,
    "The four terms of a score",
    controls,
    stage(state, "four matrices and their sum", build(data, state)),
    stepper(state, { steps: STEPS }),
    puzzles,
  );
  return state.close;
}

export default { render };
