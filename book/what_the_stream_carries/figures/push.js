// One vector is added to a word of a text: which words the model expects next, beside what it expects after the
// word that the vector stands for.

import { connect, slider, tabs } from "../../page/kit/controls.js";
import { announce, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";

const TALL = 150; // pixels of a probability of 1

function build(root, width, { tasks }, name) {
  const { text, other, words, true: truth } = tasks[name];
  const ground = TALL + 40,
    slot = width / words.length,
    bar = Math.min(slot * 0.3, 56);
  root.append(
    drawing("path", { class: "cl-axis", d: `M0 ${ground}H${width}` }),
    label(`${text} ▢`, 0, 16, "cl-start cl-strong"),
  );
  const parts = words.map((word, i) => {
    const middle = (i + 0.5) * slot;
    const aim = TALL * truth[i];
    const rect = drawing("rect", { class: "cl-tip", x: -bar / 2, width: bar });
    const number = drawing("text", { "data-name": "chance", class: "cl-strong" });
    root.append(
      label(word, middle, ground + 18, "cl-strong"),
      drawing("rect", {
        class: "cl-line",
        "stroke-dasharray": "4 3",
        style: "stroke: var(--second)",
        x: middle - bar / 2 - 4,
        y: ground - aim,
        width: bar + 8,
        height: aim,
      }),
    );
    const grown = part(
      root,
      drawing("g", { class: "cl-model" }, rect, number),
      { x: middle, y: ground, h: 0 },
      ({ h }) => {
        fill(rect, { y: -h, height: h }, []);
        number.setAttribute("y", String(-Math.max(h, aim) - 8));
      },
    );
    return { number, grown };
  });
  root.append(
    label(
      `dashed: after “${text.replace(text.split(" ")[1], other)}”`,
      0,
      ground + 42,
      "cl-start cl-quiet",
    ),
  );
  return {
    height: ground + 50,
    pose({ task, place, level }, move) {
      tasks[task][place][level].forEach((p, i) => {
        write(parts[i].number, p);
        parts[i].grown.to({ h: TALL * p }, move);
      });
    },
  };
}

function render({ model, el }) {
  const data = model.get("data");
  const { times, places, tasks } = data;
  const state = connect(model);
  const where = (place) => (place === places[0] ? `at the ${place}` : `behind ${place}`);
  const scene = stage(
    state,
    "The probabilities of the next word",
    (root, width) => build(root, width, data, state.value.task),
    { key: ({ task }) => task },
  );
  const controls = element(
    "div",
    { class: "cl-controls" },
    tabs(state, "task", "what is pushed", Object.keys(tasks)),
    tabs(state, "place", "where it is added", places),
    slider(state, "level", "the vector, times", {
      min: 0,
      max: times.length - 1,
      describe: (level) => format(times[level], 2),
    }),
  );
  /** The share of the second half of the words, those after the other noun. */
  const share = ({ task, place, level }) => {
    const row = tasks[task][place][level];
    const sum = (list) => list.reduce((a, b) => a + b, 0);
    return sum(row.slice(row.length / 2)) / sum(row);
  };
  const say = announce(state, (value) => {
    const { text, words } = tasks[value.task];
    const row = tasks[value.task][value.place][value.level];
    const first = row.indexOf(Math.max(...row));
    return `${format(times[value.level], 2)} times the vector, added ${where(value.place)}: after “${text}” the likeliest of these words is “${words[first]}” (${format(row[first])}).`;
  });
  const [number, gender] = Object.keys(tasks);
  const least = (place) =>
    times.findIndex((_, level) => share({ task: number, place, level }) > 0.5);
  const last = places[places.length - 1];
  const start = state.value;
  const puzzles = goals(
    state,
    [
      {
        text: `Find the smallest push ${where(places[0])} that makes “${tasks[number].words[2]}” and “${tasks[number].words[3]}” win.`,
        reached: ({ task, place, level }) =>
          task === number && place === places[0] && level === least(place),
      },
      {
        text: `With the largest push, find a place where “${tasks[gender].words[1]}” still loses.`,
        reached: (value) =>
          value.task === gender && value.level === times.length - 1 && share(value) < 0.5,
      },
      {
        text: `Push behind ${last}, and let “${tasks[number].words[2]}” and “${tasks[number].words[3]}” win even there.`,
        reached: (value) => value.task === number && value.place === last && share(value) > 0.5,
      },
    ].filter(({ reached }) => !reached(start)),
  );
  frame(el, "Push one word", controls, scene, say, puzzles);
  return state.close;
}

export default { render };
