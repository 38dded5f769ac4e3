// Click a word of a question: which patches of the picture, and which words, did it read?

import { choice, connect } from "../../page/kit/controls.js";
import { announce, css, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { descending, meanOf } from "../../page/kit/numerics.js";
import { tokenRow } from "../../page/kit/parts.js";
import { label, stage } from "../../page/kit/stage.js";
import { answerList } from "../../page/kit/tables.js";
import { digitAt } from "../pixels.js";

css`
  .cl-gaze path {
    fill: none;
    stroke: var(--attention);
    stroke-linecap: round;
  }
  .cl-gaze .cl-weight {
    fill: var(--attention-word);
    font-size: 12px;
  }
`;

const MUCH = 0.7,
  LITTLE = 0.1,
  SHOWN = 3; // answers

function render({ model, el }) {
  const { pictures, questions } = model.get("data");
  const state = connect(model);
  const [places, heads] = [pictures[0].pixels.length, pictures[0].weights[0][0].length];
  const of = ({ picture, question }) => pictures[picture].weights[question];
  const read = (value) => {
    const layer = of(value)[value.layer];
    return (value.head < 0 ? meanOf(layer) : layer[value.head])[value.word];
  };
  const seen = (value) => read(value).slice(0, places);
  const isAsked = ({ question }) => questions[question].place > 0;
  const onAsked = (value) =>
    isAsked(value) ? seen(value)[questions[value.question].place - 1] : 0;

  function build(root, width, { picture, question }) {
    const { words } = questions[question];
    const across = Math.min(96, (width - 8) / places),
      side = across - 18,
      left = width / 2 - (across * places) / 2;
    const lower = side + 98;
    const paths = drawing("g", { class: "cl-gaze" });
    root.append(paths);
    const centres = [
      ...pictures[picture].pixels.map((_, i) => left + (i + 0.5) * across),
      ...words.map((_, i) => width / 2 + (i - (words.length - 1) / 2) * Math.min(104, width / 4.1)),
    ];
    pictures[picture].pixels.forEach((pixels, i) => {
      root.append(
        digitAt(pixels, { x: centres[i], y: side / 2 + 2, side }),
        label(`place ${i + 1}`, centres[i], side + 18, "cl-quiet cl-sub"),
      );
    });
    const row = tokenRow(root, words, centres.slice(places), {
      y: lower,
      pick: (word) => state.set({ word }),
    });
    const numbers = centres.map((x, i) => {
      const text = label("", x, i < places ? side + 34 : lower + 48, "cl-weight");
      text.dataset.name = "weight";
      root.append(text);
      return text;
    });
    const lines = centres.map(() => drawing("path"));
    paths.append(...lines);
    return {
      height: lower + 82,
      pose(value) {
        const weights = read(value);
        const from = centres[places + value.word];
        row.press(value.word);
        weights.forEach((weight, i) => {
          write(numbers[i], weight);
          numbers[i].style.visibility = weight < 0.005 ? "hidden" : "";
          const to = centres[i];
          const middle = (lower + side + 40) / 2;
          const up = `M${from} ${lower}C${from} ${middle} ${to} ${middle} ${to} ${side + 40}`;
          const under = `M${from} ${lower + 54}C${from} ${lower + 78} ${to} ${lower + 78} ${to} ${lower + 54}`;
          const d = i < places ? up : to === from ? "M0 0" : under;
          const opacity = weight < 0.005 ? 0 : 0.25 + 0.7 * weight;
          fill(lines[i], { d, "stroke-width": (1 + 11 * weight).toFixed(1), opacity }, []);
        });
      },
    };
  }

  const tell = (value) => {
    const { words } = questions[value.question];
    const weights = seen(value);
    const [most] = descending(weights);
    const all = weights.reduce((a, b) => a + b, 0);
    const head = value.head < 0 ? "the heads, on average, give" : `head ${value.head + 1} gives`;
    return (
      `At “${words[value.word]}” in layer ${value.layer + 1}, ${head} ${format(all)} to the ` +
      `picture, most of it (${format(weights[most])}) to place ${most + 1}.`
    );
  };
  frame(
    el,
    "Click a word: what did it read?",
    element(
      "div",
      { class: "cl-controls" },
      choice(
        state,
        "picture",
        "it is shown",
        pictures.map(({ name }, i) => [i, name]),
      ),
      choice(
        state,
        "question",
        "it is asked",
        questions.map(({ words }, i) => [i, words.join(" ")]),
      ),
      choice(
        state,
        "layer",
        "layer",
        of(state.value).map((_, i) => [i, `layer ${i + 1}`]),
      ),
      choice(state, "head", "head", [
        [-1, "all, on average"],
        ...Array.from({ length: heads }, (_, i) => [i, `head ${i + 1}`]),
      ]),
    ),
    stage(state, "The picture, the question, and what the chosen word reads", build, {
      key: ({ picture, question }) => `${picture} ${question}`,
    }),
    announce(state, tell),
    answerList(
      state,
      "answers",
      ({ picture, question }) => pictures[picture].answers[question].slice(0, SHOWN),
      2,
    ),
    goals(state, [
      {
        text: `Find a word and a head that give the place asked for ${format(MUCH, 1)} or more.`,
        reached: (value) => value.head >= 0 && onAsked(value) >= MUCH,
      },
      {
        text: `Find a word that gives the whole picture less than ${format(LITTLE, 1)}, on average over the heads.`,
        reached: (value) => value.head < 0 && seen(value).reduce((a, b) => a + b, 0) < LITTLE,
      },
      {
        text: "Ask about a place of a blank picture, and see how sure the reader is.",
        reached: ({ picture, question }) =>
          isAsked({ question }) && pictures[picture].pixels.flat().every((ink) => ink === 0),
      },
    ]),
  );
  return state.close;
}

export default { render };
