// A forecast as a loop: predict, feed the answer back, slide the window on, and again.

import { choice, connect } from "../../page/kit/controls.js";
import { css, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp } from "../../page/kit/numerics.js";
import { part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

css`
  .cl-back {
    stroke: var(--second);
    stroke-dasharray: 5 4;
  }
  .cl-loop-counts {
    display: flex;
    flex-wrap: wrap;
    column-gap: 1.4rem;
    div {
      display: flex;
      gap: 0.5rem;
    }
  }
`;

const LIMIT = 3.2; // of the standardised series, up and down

/** What has happened after a step: how many points are `said`, and where the window `begins`. */
function moment({ window: width, runs, good }, { step, start, name }) {
  const steps = runs[start].length - width,
    lost = Math.min(good[name][start] + 1, steps);
  const said = [0, 1, 1, 2, 10, width, lost, steps][step];
  return { said, begins: step === 1 ? 0 : said };
}

const NAMES = ["window", "predict", "feed back", "again", "ten", "its own", "lost", "on and on"];
const LOST = 6,
  LAST = 7;

/** The error of the newest point that was said, or null. */
function errorAt({ window: width, runs, said }, { start, name }, count) {
  return count ? Math.abs(said[name][start][count - 1] - runs[start][width + count - 1]) : null;
}

function captions(data) {
  const { window: width, runs, said, good, dt, rate, threshold } = data;
  const newest = (value, count) => {
    const point = format(said[value.name][value.start][count - 1]);
    return `${point}; the truth is ${format(runs[value.start][width + count - 1])}`;
  };
  const time = (steps) => format(steps * dt * rate);
  return [
    () =>
      `The model reads the last ${width} points, in the box. All of them were measured. How long ` +
      "will it be right once it reads its own answers?",
    (value) => `The open circle is where it says the next point will be: ${newest(value, 1)}.`,
    () =>
      "Its answer is put at the end of the series, and the window slides on by one point. What the " +
      "model reads now is not all true.",
    (value) =>
      `Again: it says ${newest(value, 2)}. Whatever was wrong with the first is in its input.`,
    (value) =>
      `After ten rounds half of the window is the model's own work. It says ${newest(value, 10)}.`,
    (value) => `From here on it reads nothing that was measured. It says ${newest(value, width)}.`,
    (value) => {
      const steps = good[value.name][value.start];
      return steps >= runs[value.start].length - width
        ? `The error has not passed ${threshold} yet.`
        : `Now the circles leave the line, the truth: the error is above ${threshold} for the first time. ` +
            `The forecast stayed right for ${steps} ` +
            `points, which is ${time(steps)} Lyapunov times.`;
    },
    (value) => {
      const error = errorAt(data, value, runs[value.start].length - width);
      return `It goes on as if nothing had happened. Its last point is off by ${format(error)}.`;
    },
  ];
}

function build(root, width, data) {
  const { window: size, runs, said } = data;
  const height = width >= 520 ? 210 : 190,
    left = 6;
  const y = (x) => 14 + ((LIMIT - clamp(x, -LIMIT, LIMIT)) / (2 * LIMIT)) * (height - 28);
  const box = drawing("rect", { class: "cl-unit" }),
    truth = drawing("path", { class: "cl-truth" }),
    gap = drawing("path", { class: "cl-gap" }),
    over = drawing("path", { class: "cl-line cl-back" });
  const seen = Array.from({ length: size }, () => drawing("circle", { class: "cl-seen", r: 3 }));
  const own = runs[0].slice(size).map(() => drawing("circle", { class: "cl-own-point", r: 3 }));
  let now = { start: 0, name: Object.keys(said)[0], last: 0 };

  // one part for the whole picture: how many points are said, where the box begins, for how many there is room
  const draw = ({ count, begins, columns }) => {
    const pitch = (width - 2 * left) / columns;
    const at = (i) => left + (i + 0.5) * pitch;
    const run = runs[now.start],
      answers = said[now.name][now.start],
      shown = Math.round(count);
    const r = clamp(0.32 * pitch, 1.6, 4);
    fill(
      box,
      { x: left + begins * pitch, width: size * pitch, y: 4, height: height - 8, rx: 5 },
      [],
    );
    const path = run.slice(0, size + shown).map((x, i) => `${i ? "L" : "M"}${at(i)} ${y(x)}`);
    truth.setAttribute("d", path.join(""));
    seen.forEach((dot, i) => fill(dot, { cx: at(i), cy: y(run[i]), r }, []));
    own.forEach((dot, i) => {
      fill(dot, { cx: at(size + i), cy: y(answers[i]), r }, []);
      dot.style.visibility = i < shown ? "" : "hidden";
    });
    const x = at(size + shown - 1);
    const between = `M${x} ${y(run[size + shown - 1])}V${y(answers[shown - 1] ?? 0)}`;
    gap.setAttribute("d", shown ? between : "");
    const top = left + (begins + size / 2) * pitch; // from the box over to what the model says
    const says = `M${top} 10C${(top + x) / 2} 4 ${x} 4 ${x} ${y(answers[0]) - r - 3}`;
    over.setAttribute("d", now.last === 1 ? says : "");
  };
  const picture = part(
    root,
    drawing("g", {}, box, truth, gap, seen, own, over),
    { count: 0, begins: 0, columns: size + 12 },
    draw,
  );
  const pose = (value, { jump }) => {
    const { said: count, begins } = moment(data, value);
    const other = value.start !== now.start || value.name !== now.name;
    now = { start: value.start, name: value.name, last: value.step };
    const columns = size + Math.max(12, count + 1);
    const ms = Math.abs(count) > 2 ? 1400 : 600;
    picture.to({ count, begins, columns }, { jump: jump || other, ms });
  };
  return { height, pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const { window: size, runs, said, good, dt, rate } = data;
  const state = connect(model);
  const texts = captions(data);
  const number = (name) => element("dd", { "data-name": name });
  const [rounds, own, error] = ["rounds", "own", "error"].map(number);
  const pair = (text, node) => element("div", {}, element("dt", {}, text), node);
  const counts = element(
    "dl",
    { class: "cl-pairs cl-loop-counts" },
    pair("rounds", rounds),
    pair(`own points among the ${size}`, own),
    pair("error of the newest", error),
  );
  state.draw((value) => {
    const { said: count, begins } = moment(data, value);
    write(rounds, count, 0);
    write(own, Math.min(begins, size), 0);
    const miss = errorAt(data, value, count);
    if (miss === null) {
      error.textContent = "none yet";
      delete error.dataset.value;
    } else write(error, miss, 3);
  });
  const time = ({ name, start }) => good[name][start] * dt * rate;
  const names = Object.keys(said);
  const all = names.flatMap((name) => runs.map((_, start) => ({ name, start })));
  const off = (value) => errorAt(data, value, runs[value.start].length - size);
  frame(
    el,
    "A forecast that reads its own answers",
    element(
      "div",
      { class: "cl-controls" },
      choice(state, "name", "forecaster", names),
      choice(
        state,
        "start",
        "start",
        runs.map((_, i) => [i, `start ${i + 1}`]),
      ),
    ),
    stage(state, "The series, the window and the forecast", (root, width) =>
      build(root, width, data),
    ),
    counts,
    stepper(state, { steps: NAMES.map((name, i) => ({ name, caption: texts[i] })), pace: 3400 }),
    goals(state, [
      {
        text: "Find the start from which this forecaster stays right for longest, and go to where it is lost.",
        reached: (value) =>
          value.step === LOST && runs.every((_, start) => time({ ...value, start }) <= time(value)),
      },
      {
        text: "Of all forecasters and starts, find the forecast that ends furthest from the truth.",
        reached: (value) =>
          value.step === LAST && off(value) === Math.max(...all.map((other) => off(other))),
      },
    ]),
  );
  return state.close;
}

export default { render };
