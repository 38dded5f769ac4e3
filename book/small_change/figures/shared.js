// Which layers a student's start shares with its teacher's, and how many digits it then reads.

import { axes } from "../../page/kit/axes.js";
import { connect, tabs, toggle } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";

const HALF = 0.5;

function build(root, width, { layers, runsOf }) {
  const across = (width - 16) / layers.length;
  const boxes = layers.map((layer, i) => {
    const rect = drawing("rect", {
      x: 8 + i * across,
      y: 6,
      width: across - 10,
      height: 48,
      rx: 6,
    });
    const middle = 8 + i * across + (across - 10) / 2;
    const whose = label("", middle, 46, "cl-sub");
    root.append(rect, label(`${layer} layer`, middle, 26, "cl-strong"), whose);
    return { layer, rect, whose };
  });
  const box = { left: 20, right: width - 20, top: 66, bottom: 120 };
  const { x } = axes(root, box, {
    x: {
      first: 0,
      last: 1,
      ticks: [0, 0.1, 0.5, 1],
      text: (share) => format(share, 1),
      lines: true,
    },
    y: { first: 0, last: 1 },
  });
  root.append(label("share of digits read; luck gives 0.1", width / 2, 156, "cl-quiet"));
  const count = Math.max(...Object.values(runsOf.all).map((runs) => runs.length));
  const dots = Array.from({ length: count }, (_, i) =>
    part(root, drawing("circle", { r: 6, style: "fill: var(--first); fill-opacity: 0.75" }), {
      x: x(0),
      y: 80 + (26 * i) / Math.max(1, count - 1),
    }),
  );
  return {
    height: 162,
    pose(value, move) {
      for (const { layer, rect, whose } of boxes) {
        rect.style.fill = value[layer]
          ? "color-mix(in oklab, var(--first) 22%, var(--ground))"
          : "none";
        rect.style.stroke = `var(${value[layer] ? "--first" : "--line"})`;
        rect.style.strokeDasharray = value[layer] ? "none" : "5 4";
        whose.textContent = value[layer] ? "the teacher's" : "random";
      }
      const runs = runsOf(value);
      dots.forEach((dot, i) => dot.to({ x: x(runs[i] ?? 0), o: Number(i in runs) }, move));
    },
  };
}

function render({ model, el }) {
  const { layers, extras, reads } = model.get("data");
  const state = connect(model);
  const chosen = (value) => layers.filter((layer) => value[layer]);
  const runsOf = Object.assign((value) => reads[[value.extra, ...chosen(value)].join(" ")], {
    all: reads,
  });
  const mean = (value) => {
    const runs = runsOf(value);
    return runs.reduce((a, b) => a + b, 0) / runs.length;
  };
  const number = element("b", { "data-name": "reads" });
  state.draw((value) => write(number, mean(value)));
  const tell = (value) => {
    const shared = chosen(value);
    const what = shared.length === layers.length ? "everything" : shared.join(" and ") || "nothing";
    return (
      `With ${value.extra} meaningless outputs, and ${what} shared, students read ` +
      `${format(100 * mean(value), 0)} % of the digits.`
    );
  };
  frame(
    el,
    "What must be shared?",
    tabs(
      state,
      "extra",
      "outputs without a meaning",
      extras.map((extra) => [extra, `${extra} meaningless outputs`]),
    ),
    element(
      "div",
      { class: "cl-controls" },
      layers.map((layer) => toggle(state, layer, `share the ${layer} layer`)),
    ),
    stage(state, "The layers, and the share of digits that each run reads", (root, width) =>
      build(root, width, { layers, runsOf }),
    ),
    element("p", {}, "read, on average: ", number),
    announce(state, tell),
    goals(state, [
      {
        text: `With ${extras[0]} meaningless outputs, make the students read more than half.`,
        reached: (value) => value.extra === extras[0] && mean(value) > HALF,
      },
      {
        text: "Share one layer only, and make them read more than half.",
        reached: (value) => chosen(value).length === 1 && mean(value) > HALF,
      },
      {
        text: `Share two layers with ${extras.at(-1)} meaningless outputs, and have them fail.`,
        reached: (value) =>
          value.extra === extras.at(-1) && chosen(value).length === 2 && mean(value) < HALF,
      },
    ]),
  );
  return state.close;
}

export default { render };
