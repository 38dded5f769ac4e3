// A word of two meanings in many sentences: it starts as one row of the table, and block by block its
// vectors leave for one of two clouds. All heights are seen in one plane, with the row in the middle.

import { choice, connect, slider } from "../../page/kit/controls.js";
import { drawing, element, format, frame, longestOf, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

const SHAPES = [
  () => drawing("circle", { r: 5 }),
  () => drawing("path", { d: "M0 -6.5L6 4.5L-6 4.5Z" }),
];

/** Of what is seen of a height: the share of points nearer to the mean of their own meaning, and the
    distance between the two means. */
function judged(points, senses) {
  const means = [0, 1].map((sense) => {
    const own = points.filter((_, i) => senses[i] === sense);
    return [0, 1].map((axis) => own.reduce((sum, point) => sum + point[axis], 0) / own.length);
  });
  const away = (point, mean) => Math.hypot(point[0] - mean[0], point[1] - mean[1]);
  const right = points.filter(
    (point, i) => away(point, means[senses[i]]) < away(point, means[1 - senses[i]]),
  );
  return { share: right.length / points.length, gap: away(...means) };
}

function render({ model, el }) {
  const { heights, words } = model.get("data");
  const state = connect(model);
  const names = Object.keys(words);
  const count = words[names[0]].senses.length;
  const seen = ({ word, step }) => judged(words[word].film[step], words[word].senses);

  const picture = stage(state, "The word's vectors in a plane", (root, width) => {
    const height = Math.min(380, Math.max(260, width * 0.6));
    const size = Math.min(width, height) / 2 - 16;
    const middle = [width / 2, height / 2];
    root.append(
      drawing("path", {
        class: "cl-axis",
        d: `M0 ${middle[1]}H${width}M${middle[0]} 0V${height}`,
      }),
    );
    const trail = drawing("path", { class: "cl-line", opacity: 0.6 });
    root.append(trail);
    // one of each shape for every sentence: which one is seen depends on the word
    const points = Array.from({ length: count }, () => {
      const shapes = SHAPES.map((shape, sense) =>
        drawing("g", { class: `cl-crowd${sense}`, opacity: 0.75 }, shape()),
      );
      return { shapes, ...part(root, drawing("g", {}, shapes), { x: middle[0], y: middle[1] }) };
    });
    const ring = part(root, drawing("circle", { class: "cl-line", r: 10, style: "fill: none" }), {
      x: middle[0],
      y: middle[1],
    });
    return {
      height,
      pose({ word, step, sentence }, move) {
        const { film, senses, most } = words[word];
        const at = ([x, y]) => [middle[0] + (x / most) * size, middle[1] - (y / most) * size];
        points.forEach((point, i) => {
          const [x, y] = at(film[step][i]);
          point.shapes.forEach((shape, sense) => {
            shape.style.display = sense === senses[i] ? "" : "none";
          });
          point.to({ x, y }, move);
        });
        const chosen = sentence - 1;
        const [x, y] = at(film[step][chosen]);
        ring.to({ x, y }, move);
        const way = film.slice(0, step + 1).map((height) => at(height[chosen]).join(" "));
        trail.setAttribute("d", `M${way.join("L")}`);
      },
    };
  });

  const share = element("b", { "data-name": "share" }),
    gap = element("b", { "data-name": "gap" });
  state.draw((value) => {
    const found = seen(value);
    write(share, found.share);
    write(gap, found.gap);
  });
  const text = ({ word, sentence }) => words[word].sentences[sentence - 1];
  const caption = (value) => {
    const found = seen(value),
      { cues } = words[value.word];
    const where = value.step
      ? `${heights[value.step]}: in this plane ${format(100 * found.share, 0)} % of the vectors lie nearer to the mean of their own meaning.`
      : "Looked up, all vectors are one and the same row.";
    return `${where} ● ${cues[0]} … ▲ ${cues[1]} … The ring is “${text(value)}”.`;
  };
  const steps = stepper(state, {
    steps: heights.map((name) => ({ name, caption })),
    pace: 2400,
    others: names.map((word) => ({
      word,
      sentence: 1 + words[word].sentences.indexOf(longestOf(words[word].sentences)),
    })),
  });
  const gaps = names.map((word) => judged(words[word].film.at(-1), words[word].senses).gap);
  const closest = names[gaps.indexOf(Math.min(...gaps))];
  const puzzles = goals(state, [
    {
      text: "Find the first height at which nine of ten vectors of bank lie nearer to their own mean.",
      reached: (value) => {
        if (value.word !== "bank" || value.step === 0) return false;
        const before = judged(words.bank.film[value.step - 1], words.bank.senses).share;
        return seen(value).share >= 0.9 && (value.step === 1 || before < 0.9);
      },
    },
    {
      text: "Find the word whose two means end closest to each other.",
      reached: ({ word, step }) => step === heights.length - 1 && word === closest,
    },
  ]);
  frame(
    el,
    "From one row to two clouds",
    element(
      "div",
      { class: "cl-controls" },
      choice(state, "word", "word", names),
      slider(state, "sentence", "the ring: sentence", { min: 1, max: count }),
    ),
    picture,
    element(
      "p",
      { class: "cl-score" },
      "vectors nearer to their own mean: ",
      share,
      ", distance of the two means: ",
      gap,
    ),
    steps,
    puzzles,
  );
  return state.close;
}

export default { render };
