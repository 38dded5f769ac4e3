// The vectors of pictures and of captions in the course of training: do the two clouds meet?

import { axes } from "../../page/kit/axes.js";
import { connect, slider, tabs } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";

const HEIGHT = 250,
  NEAR = 0.2,
  FAR = 0.3,
  MANY = 0.7;

function build(root, width, { reach, now, count }) {
  const box = { left: 12, right: width - 12, top: 26, bottom: HEIGHT - 44 };
  const { x, y } = axes(root, box, {
    x: { first: -reach, last: reach, ticks: [-0.5, 0, 0.5], lines: true },
    y: { first: -reach, last: reach },
  });
  root.append(label("along the line through the two centres", width / 2, HEIGHT - 8, "cl-quiet"));
  const dots = ["pictures", "captions"].map((name, crowd) => {
    root.append(label(name, box[crowd ? "right" : "left"], 16, crowd ? "cl-end" : "cl-start"));
    return Array.from({ length: count }, () => {
      const look = { class: `cl-crowd${crowd}`, "fill-opacity": 0.55, "data-name": name };
      const shape = crowd
        ? drawing("circle", { r: 3.6, ...look })
        : drawing("rect", { x: -3.2, y: -3.2, width: 6.4, height: 6.4, ...look });
      return part(root, shape);
    });
  });
  const keys = [
    drawing("rect", { x: box.left + 62, y: 8, width: 9, height: 9, class: "cl-crowd0" }),
    drawing("circle", { cx: box.right - 72, cy: 12, r: 4.6, class: "cl-crowd1" }),
  ];
  root.append(...keys);
  return {
    height: HEIGHT,
    pose(value, move) {
      now(value).points.forEach((cloud, crowd) =>
        cloud.forEach(([along, across], i) =>
          dots[crowd][i].to({ x: x(along), y: y(across) }, move),
        ),
      );
    },
  };
}

function render({ model, el }) {
  const { runs } = model.get("data");
  const state = connect(model);
  const names = Object.keys(runs).sort((a, b) => Number(a) - Number(b)); // not as JSON has them
  const last = runs[names[0]].length - 1;
  const now = ({ run, at }) => runs[run][at];
  const every = Object.values(runs).flat();
  const reach = Math.max(...every.flatMap(({ points }) => points.flat(2)).map(Math.abs)) * 1.05;
  const count = every[0].points[0].length;
  const told = [
    ["gap", "between the centres"],
    ["apart", "a plane knows a picture"],
    ["found", "captions found"],
  ].map(([key, text]) => {
    const number = element("b", { "data-name": key });
    state.draw((value) => write(number, now(value)[key]));
    return element("span", {}, `${text}: `, number);
  });
  const tell = (value) => {
    const { step, gap, apart, found } = now(value);
    return (
      `After ${step} steps from scale ${value.run} the centres are ${format(gap)} apart. A plane ` +
      `tells ${format(100 * apart, 0)} % of pictures and captions apart, and ` +
      `${format(100 * found, 0)} % of the pictures find their caption.`
    );
  };
  frame(
    el,
    "Do the two clouds meet?",
    tabs(
      state,
      "run",
      "scale at the start",
      names.map((name) => [name, `scale ${name}`]),
    ),
    slider(state, "at", "steps:", {
      min: 0,
      max: last,
      describe: (at, { run }) => format(runs[run][at].step, 0),
    }),
    stage(state, "Vectors of pictures and of captions, two of their directions", (root, width) =>
      build(root, width, { reach, now, count }),
    ),
    element("p", { class: "cl-controls" }, told),
    announce(state, tell),
    goals(state, [
      {
        text: `Bring the centres closer than ${format(NEAR, 1)}.`,
        reached: (value) => now(value).gap < NEAR,
      },
      {
        text: `Keep them more than ${format(FAR, 1)} apart, where most captions are found.`,
        reached: (value) => now(value).gap > FAR && now(value).found > MANY,
      },
    ]),
  );
  return state.close;
}

export default { render };
