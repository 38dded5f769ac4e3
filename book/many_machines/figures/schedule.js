// When each stage of a pipeline works and waits: a row for a stage, a cell for a job of a micro-batch.

import { connect, remember, slider, tabs } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, stage } from "../../page/kit/stage.js";

css`
  .cl-jobs rect {
    stroke: var(--ground);
    stroke-width: 0.8;
  }
  .cl-jobs .cl-F {
    fill: color-mix(in oklab, var(--first) 55%, var(--ground));
  }
  .cl-jobs .cl-B {
    fill: color-mix(in oklab, var(--second) 60%, var(--ground));
  }
  .cl-jobs .cl-W {
    fill: color-mix(in oklab, var(--second) 26%, var(--ground));
  }
`;

const ROW = 24;

/** What a stage does with the micro-batches, one after the other: [kind, micro-batch]. */
function order(schedule, s, p, m) {
  const ahead = schedule === "GPipe" ? m : Math.min(p - 1 - s, m);
  const jobs = Array.from({ length: ahead }, (_, i) => ["F", i]);
  for (let i = 0; i < m - ahead; i++) jobs.push(["F", ahead + i], ["B", i]);
  for (let i = m - ahead; i < m; i++) jobs.push(["B", i]);
  return jobs;
}

/** The jobs { s, kind, i, start, stop }, each as soon as its stage is free and its input is there; where
    the backward pass is split, its second half W fills the gaps. */
function timetable({ schedule, stages: p, batches: m, ratio }) {
  const split = schedule === "split",
    half = ratio / 2;
  const length = { F: 1, B: split ? half : ratio, W: half };
  const todo = Array.from({ length: p }, (_, s) => order(schedule, s, p, m));
  const later = todo.map(() => []),
    free = todo.map(() => 0),
    held = todo.map(() => 0),
    most = todo.map(() => 0);
  const done = new Map(),
    jobs = [];
  const when = (kind, s, i) => done.get(`${kind} ${s} ${i}`) ?? Infinity;
  const earliest = (s) => {
    if (todo[s].length === 0) return Infinity;
    const [kind, i] = todo[s][0];
    if (split && kind === "F" && held[s] === p) return Infinity;
    const there = [free[s]];
    if (kind === "B") there.push(when("F", s, i));
    if (kind === "B" && s < p - 1) there.push(when("B", s + 1, i));
    if (kind === "F" && s > 0) there.push(when("F", s - 1, i));
    return Math.max(...there);
  };
  for (;;) {
    const starts = todo.map((_, s) => earliest(s));
    const waiting = free.map((time, s) => (later[s].length ? time : Infinity));
    const start = Math.min(...starts),
      filled = Math.min(...waiting);
    if (start === Infinity && filled === Infinity) return { jobs, most };
    const isW = filled < start;
    const s = isW ? waiting.indexOf(filled) : starts.indexOf(start);
    const [kind, i] = isW ? ["W", later[s].shift()] : todo[s].shift();
    if (split && kind === "B") later[s].push(i);
    held[s] += Number(kind === "F") - Number(kind === (split ? "W" : "B"));
    most[s] = Math.max(most[s], held[s]);
    free[s] = (isW ? filled : start) + length[kind];
    done.set(`${kind} ${s} ${i}`, free[s]);
    jobs.push({ s, kind, i, start: free[s] - length[kind], stop: free[s] });
  }
}

/** What the figure measures of a value: its jobs, what each stage holds at most, and its idle time. */
function measured(value) {
  const { jobs, most } = timetable(value);
  const span = Math.max(...jobs.map((job) => job.stop));
  const busy = jobs.reduce((sum, job) => sum + job.stop - job.start, 0) / value.stages;
  return { jobs, most, span, idle: span - busy, share: 1 - busy / span };
}

function build(root, width, value, of) {
  const { jobs, most, span } = of(value);
  const left = 22,
    right = width - 62,
    top = 20;
  const x = (time) => left + (time / span) * (right - left),
    y = (s) => top + s * ROW;
  root.append(label("time →", left, 13, "cl-quiet cl-start cl-sub"));
  root.append(label("holds", right + 8, 13, "cl-quiet cl-start cl-sub"));
  const cells = drawing("g", { class: "cl-jobs" });
  root.append(cells);
  for (let s = 0; s < value.stages; s++) {
    cells.append(
      drawing("path", { class: "cl-axis", d: `M${left} ${y(s) + ROW / 2}H${right}` }),
      label(String(s), 8, y(s) + 16, "cl-quiet"),
      drawing("rect", {
        x: right + 8,
        y: y(s) + 5,
        width: (26 * most[s]) / Math.max(...most),
        height: ROW - 10,
        style: "fill: var(--quiet)",
      }),
      label(String(most[s]), right + 38, y(s) + 16, "cl-start"),
    );
  }
  for (const { s, kind, i, start, stop } of jobs) {
    const wide = x(stop) - x(start);
    cells.append(
      drawing("rect", {
        x: x(start),
        y: y(s) + 2,
        width: wide,
        height: ROW - 4,
        class: `cl-${kind}`,
      }),
    );
    const text = wide >= 26 ? `${kind}${i + 1}` : wide >= 11 ? kind : "";
    if (text) cells.append(label(text, (x(start) + x(stop)) / 2, y(s) + 16, "cl-sub"));
  }
  return { height: top + value.stages * ROW + 4, pose() {} };
}

function render({ model, el }) {
  const { schedules, stages, batches } = model.get("data");
  const state = connect(model);
  const of = remember(measured);
  const numbers = ["idle", "share", "most"].map((name) => element("b", { "data-name": name }));
  state.draw((value) => {
    const { idle, share, most } = of(value);
    write(numbers[0], idle, 1);
    write(numbers[1], 100 * share, 1);
    write(numbers[2], Math.max(...most), 0);
  });
  const tell = (value) => {
    const { idle, share, most } = of(value);
    return (
      `${value.schedule}, ${value.stages} stages, ${value.batches} micro-batches: each stage ` +
      `waits for ${format(idle, 1)} forward passes, ${format(100 * share, 0)} % of the time, and ` +
      `the first holds ${most[0]} micro-batches.`
    );
  };
  const frugal = (value) => Math.max(...of(value).most) <= 8;
  frame(
    el,
    "A schedule to move",
    tabs(state, "schedule", "schedule", schedules),
    element(
      "div",
      { class: "cl-controls" },
      slider(state, "stages", "stages", { min: 2, max: stages }),
      slider(state, "batches", "micro-batches", { min: 1, max: batches }),
      slider(state, "ratio", "backward / forward", {
        min: 1,
        max: 3,
        step: 0.5,
        describe: (number) => format(number, 1),
      }),
    ),
    stage(
      state,
      "A row for each stage: F forward, B backward, W the half of it that can wait",
      (root, width, value) => build(root, width, value, of),
      { key: (value) => JSON.stringify(value) },
    ),
    element(
      "p",
      {},
      "idle, in forward passes: ",
      numbers[0],
      "; of all time: ",
      numbers[1],
      " %; most micro-batches held: ",
      numbers[2],
    ),
    announce(state, tell),
    goals(state, [
      {
        text: "With 6 stages or more, let each stage wait for less than a fifth of the time.",
        reached: (value) => value.stages >= 6 && of(value).share < 0.2,
      },
      {
        text: "The same, and no stage holds more than 8 micro-batches.",
        reached: (value) => value.stages >= 6 && of(value).share < 0.2 && frugal(value),
      },
      {
        text: "8 stages, 8 micro-batches: wait for less than half of what GPipe waits for.",
        reached: (value) =>
          value.stages === 8 && value.batches === 8 && of(value).idle < 3.5 * (1 + value.ratio),
      },
    ]),
  );
  return state.close;
}

export default { render };
