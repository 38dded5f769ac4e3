// All heads of a language model on one text that repeats: a map, a word's row, and three scores.

import { connect, remember, slider } from "../../page/kit/controls.js";
import { announce, element, format, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax, descending } from "../../page/kit/numerics.js";
import { predict } from "../../page/kit/predict.js";
import { stage } from "../../page/kit/stage.js";
import { answerList, matrixTable } from "../../page/kit/tables.js";
import { meanBack, unpackMaps, weightMap } from "../../page/kit/weight_maps.js";

const NAMES = ["A", "B", "C", "D", "E", "F"];

function render({ model, el }) {
  const data = model.get("data");
  const { words, blocks, heads, period, candidates } = data;
  const maps = unpackMaps(data.maps);
  const state = connect(model);
  const mapOf = ({ block, head }) => maps[block * heads + head];
  const scores = (map) => [
    meanBack(map, 1, period),
    meanBack(map, period - 1, period),
    map.slice(period).reduce((sum, row) => sum + row[0], 0) / (map.length - period),
  ];
  const of = remember(({ block, head }) => scores(mapOf({ block, head })));
  const numbersOf = ({ block, head }) => of({ block, head });

  const pictures = stage(
    state,
    "Four heads, the whole text twice: a row looks at its columns",
    (root, width) => {
      const columns = width >= 560 ? candidates.length : 2,
        gap = 16;
      const side = Math.floor(Math.min(150, (width - gap * (columns - 1)) / columns));
      candidates.forEach(([block, head], i) => {
        const place = {
          x: (i % columns) * (side + gap),
          y: 26 + Math.floor(i / columns) * (side + 40),
        };
        weightMap(root, words.length, side, { title: NAMES[i], first: place }).set(
          mapOf({ block, head }),
        );
      });
      return { height: Math.ceil(candidates.length / columns) * (side + 40), pose() {} };
    },
  );
  const copying = candidates.map(([block, head]) => scores(mapOf({ block, head }))[1]);
  const copier = argmax(copying);
  const question = predict(state, "copier", {
    question: "Which of these heads looks at what followed the earlier copy of the same word?",
    choices: candidates.map((_, i) => NAMES[i]),
    act: () => ({ block: candidates[copier][0], head: candidates[copier][1] }),
  });
  const answer = element("p", { "data-name": "answer" });
  state.draw(({ copier: { guess, shown } }) => {
    const right = NAMES[copier],
      [block, head] = candidates[copier];
    const verdict = guess === right ? "Yes: " : `It is not ${guess}. `;
    answer.style.visibility = shown ? "" : "hidden"; // its room stays
    answer.textContent = `${verdict}${right} does, head ${head} of block ${block}. It is set below.`;
  });

  const describe = (query) => `${query + 1} ${words[query]}`;
  const controls = element(
    "div",
    { class: "cl-controls" },
    slider(state, "block", "block", { min: 0, max: blocks - 1 }),
    slider(state, "head", "head", { min: 0, max: heads - 1 }),
    slider(state, "query", "look from word", { min: 0, max: words.length - 1, describe }),
  );
  const picture = stage(state, "The weights of the chosen head", (root, width) => {
    const side = Math.floor(Math.min(300, width));
    const map = weightMap(root, words.length, side, {
      title: "from each word (down) to each before it",
      name: "weights",
      first: { x: 0, y: 24 },
    });
    return {
      height: side + 30,
      pose(value) {
        map.set(mapOf(value));
        map.light(value.query);
      },
    };
  });
  const row = answerList(state, "row", (value) => {
    const weights = mapOf(value)[value.query];
    return descending(weights)
      .slice(0, 5)
      .map((key) => [describe(key), weights[key]]);
  });
  row.classList.add("cl-attention");
  row.style.minHeight = "8rem"; // the first word sees only itself
  row.style.alignContent = "start";
  const table = matrixTable(
    state,
    "mean weight, second copy",
    ["on the word before", "on what followed the copy", "on the first word"],
    ["score"],
    (value) => numbersOf(value).map((score) => [score]),
    { name: "scores" },
  );
  const say = announce(state, (value) => {
    const weights = mapOf(value)[value.query],
      key = argmax(weights);
    return `Head ${value.head} of block ${value.block}: “${describe(value.query)}” looks most at “${describe(key)}” (${format(weights[key])}).`;
  });
  const puzzles = goals(state, [
    {
      text: "Find a previous-token head: more than 0.7 on the word before.",
      reached: (value) => numbersOf(value)[0] > 0.7,
    },
    {
      text: "Find a head that parks: more than 0.9 on the first word.",
      reached: (value) => numbersOf(value)[2] > 0.9,
    },
    {
      text: "Find an induction head that is not among the four: more than 0.5 on what followed the copy.",
      reached: (value) =>
        numbersOf(value)[1] > 0.5 &&
        !candidates.some(([block, head]) => block === value.block && head === value.head),
    },
  ]);
  const beside = element("div", { style: "flex: 1 1 14rem" }, row, table);
  const place = element("div", { style: "flex: 1 1 17rem" }, picture);
  frame(
    el,
    "Every head, on a text that comes twice",
    pictures,
    question,
    answer,
    controls,
    element("div", { class: "cl-side" }, place, beside),
    say,
    puzzles,
  );
  return state.close;
}

export default { render };
