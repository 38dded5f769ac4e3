// A word of two meanings in many sentences: it starts as one row of the table, and block by block its
// vectors leave for one of two clouds. All heights are seen in one plane, with the row in the middle.

import { choice, connect, slider } from "../../page/kit/controls.js";
import { css, drawing, element, frame, longestOf, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp } from "../../page/kit/numerics.js";
import { group, label, part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

css`
  .cl-leaving .cl-controls {
    gap: 0.5rem 1.2rem;
  }
  .cl-leaving .cl-controls p {
    margin: 0;
  }
  .cl-leaving .cl-controls p b {
    display: inline-block;
    min-width: 2.4em;
  }
`;

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
  return { share: right.length / points.length, gap: away(...means), means };
}

function render({ model, el }) {
  const { heights, words } = model.get("data");
  const state = connect(model);
  const names = Object.keys(words);
  const count = words[names[0]].senses.length;
  const seen = ({ word, step }) => judged(words[word].film[step], words[word].senses);

  const picture = stage(state, "The word's vectors in a plane", (root, width) => {
    const height = Math.min(270, Math.max(240, width * 0.6));
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
    const clouds = [0, 1].map(() => {
      const text = label("", 0, 0, "cl-strong");
      return { text, ...group(root, { x: middle[0], y: 14, o: 0 }, text) };
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
        const { means } = judged(film[step], senses);
        const apart = Math.abs(at(means[0])[0] - at(means[1])[0]);
        clouds.forEach((cloud, sense) => {
          cloud.text.textContent = words[word].cues[sense];
          const x = clamp(at(means[sense])[0], 70, width - 70);
          const top = Math.min(
            ...film[step].filter((_, i) => senses[i] === sense).map((point) => at(point)[1]),
          );
          cloud.to({ x, y: Math.max(14, top - 14), o: apart > 140 ? 1 : 0 }, move);
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
  const caption = (value) =>
    `${value.step ? "" : "All are one and the same row. "}The ring is “${text(value)}”.`;
  const steps = stepper(state, {
    names: false,
    steps: heights.map((name) => ({ name, caption })),
    pace: 2400,
    others: names.map((word) => ({
      word,
      sentence: 1 + words[word].sentences.indexOf(longestOf(words[word].sentences)),
    })),
  });
  const gaps = names.map((word) => judged(words[word].film.at(-1), words[word].senses).gap);
  const closest = names[gaps.indexOf(Math.min(...gaps))],
    farthest = names[gaps.indexOf(Math.max(...gaps))];
  const [wanted, how] =
    closest === names[0] ? [farthest, "farthest from"] : [closest, "closest to"]; // not the first
  const puzzles = goals(state, [
    {
      text: "Find the first step at which nine of ten vectors of bank are on their side.",
      reached: (value) => {
        if (value.word !== "bank" || value.step === 0) return false;
        const before = judged(words.bank.film[value.step - 1], words.bank.senses).share;
        return seen(value).share >= 0.9 && (value.step === 1 || before < 0.9);
      },
    },
    {
      text: `Find the word whose two means end ${how} each other.`,
      reached: ({ word, step }) => step === heights.length - 1 && word === wanted,
    },
  ]);
  const controls = element(
    "div",
    { class: "cl-controls" },
    choice(state, "word", "word", names),
    slider(state, "sentence", "the ring: sentence", { min: 1, max: count }),
    element(
      "div",
      {},
      element("p", { class: "cl-score" }, "nearer to their own mean: ", share),
      element("p", { class: "cl-score" }, "distance of the means: ", gap),
    ),
  );
  const led = element("div", { class: "cl-leaving" }, controls, picture, steps);
  frame(el, "From one row to two clouds", led, puzzles);
  return state.close;
}

export default { render };
