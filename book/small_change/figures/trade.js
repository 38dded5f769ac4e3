// What each method has left to learn and has forgotten: one path for a rate, from the same start.

import { axes } from "../../page/kit/axes.js";
import { connect, slider, tabs } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";

const written = (rate) => String(rate).replace("e-", "·10^−");

function build(root, width, { methods, chosen }) {
  const height = 250,
    box = { left: 40, right: width - 14, top: 12, bottom: height - 40 };
  const points = Object.values(methods).flatMap((runs) => runs.flatMap((run) => run.path));
  const most = points[0][0],
    highest = Math.max(...points.map(([, lost]) => lost));
  const whole = (top) => Array.from({ length: Math.floor(top) + 1 }, (_, i) => i);
  const { x, y } = axes(root, box, {
    x: { first: Math.max(most, ...points.map(([left]) => left)), last: 0, ticks: whole(most) },
    y: { first: 0, last: highest, ticks: whole(highest) },
  });
  root.append(
    label("left to learn, nats", (box.left + box.right) / 2, height - 4, "cl-quiet"),
    label("forgotten, nats", box.left + 6, box.top + 4, "cl-start cl-over cl-quiet"),
  );
  for (const run of Object.values(methods).flat()) {
    const [left, lost] = run.path.at(-1);
    root.append(drawing("circle", { cx: x(left), cy: y(lost), r: 3, style: "fill: var(--quiet)" }));
  }
  const line = drawing("path", {
    class: "cl-line",
    "data-name": "path",
    style: "stroke: var(--first); stroke-width: 2.4",
  });
  root.append(line);
  const dot = part(root, drawing("circle", { r: 6.5, style: "fill: var(--first)" }));
  return {
    height,
    pose(value, move) {
      const { path } = chosen(value);
      line.setAttribute("d", `M${path.map(([left, lost]) => `${x(left)} ${y(lost)}`).join("L")}`);
      const [left, lost] = path.at(-1);
      dot.to({ x: x(left), y: y(lost) }, move);
    },
  };
}

function render({ model, el }) {
  const { methods, reference } = model.get("data");
  const state = connect(model);
  const chosen = ({ method, at }) => methods[method][at];
  const end = (value) => chosen(value).path.at(-1);
  const best = methods[reference].reduce((a, b) => (b.path.at(-1)[0] < a.path.at(-1)[0] ? b : a));
  const [bestLeft, bestLost] = best.path.at(-1);
  const picture = stage(state, "What is left to learn, and what is forgotten", (root, width) =>
    build(root, width, { methods, chosen }),
  );
  const say = announce(state, (value) => {
    const [left, lost] = end(value);
    return (
      `${value.method} at the rate ${written(chosen(value).rate)} has ${format(left)} nats left ` +
      `to learn, and has forgotten ${format(lost)}. Grey dots are the ends of all runs.`
    );
  });
  const numbers = [element("b"), element("b")];
  state.draw((value) => end(value).forEach((number, i) => write(numbers[i], number)));
  const beats = (value) => end(value)[0] < bestLeft && end(value)[1] < bestLost;
  const possible = Object.keys(methods).some((method) =>
    methods[method].some((_, at) => beats({ method, at })),
  );
  const puzzles = [
    {
      text: `Find the rate at which ${reference} has least left to learn.`,
      reached: (value) => value.method === reference && chosen(value) === best,
    },
    possible && {
      text: "Now find a run that has less left to learn than this one, and has forgotten less.",
      reached: beats,
    },
  ].filter(Boolean);
  frame(
    el,
    "Learned, and forgotten",
    element(
      "div",
      { class: "cl-controls" },
      tabs(state, "method", "what is trained", Object.keys(methods), (method) => ({
        method,
        at: Math.min(state.value.at, methods[method].length - 1),
      })),
      slider(state, "at", "learning rate", {
        min: 0,
        max: ({ method }) => methods[method].length - 1,
        describe: (_, value) => written(chosen(value).rate),
      }),
    ),
    picture,
    element(
      "p",
      { "data-name": "trade" },
      "after the last step: left to learn ",
      numbers[0],
      " nats, forgotten ",
      numbers[1],
    ),
    say,
    goals(state, puzzles),
  );
  return state.close;
}

export default { render };
