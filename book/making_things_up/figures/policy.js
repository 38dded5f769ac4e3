// A model that answers where it is surer than a threshold, and what it scores under the reader's marks.

import { axes } from "../../page/kit/axes.js";
import { connect, remember, slider, tabs } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax } from "../../page/kit/numerics.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { tableRow } from "../../page/kit/tables.js";

const LOW = -0.5; // what is worse is below the drawing
const CLOSE = 0.002; // to the best score, for a goal

const scoreOf = (t, right, wrong) => right - (wrong * t) / (1 - t);

function build(root, width, { count, scores }) {
  const box = { left: 44, right: width - 14, top: 10, bottom: 154 };
  const { x, y } = axes(root, box, {
    x: { first: 0, last: 1, ticks: [0, 0.25, 0.5, 0.75, 1] },
    y: {
      first: LOW,
      last: 1,
      ticks: [-0.5, 0, 0.5, 1],
      text: (tick) => format(tick, 1),
    },
  });
  root.append(
    label("answers only where it is surer than", (box.left + box.right) / 2, 190, "cl-quiet"),
  );
  const own = drawing("path", {
    class: "cl-line",
    "stroke-dasharray": "5 4",
    style: "stroke: var(--quiet)",
  });
  const ownName = label("t", 0, box.top + 10, "cl-strong");
  const curve = drawing("path", {
    class: "cl-line",
    "data-name": "curve",
    style: "stroke: var(--first); stroke-width: 2.4",
  });
  root.append(own, ownName, curve);
  const dot = part(root, drawing("circle", { r: 6, style: "fill: var(--first)" }));
  const held = (score) => Math.max(score, LOW);
  function pose(value, { jump }) {
    const { t, at } = value,
      all = scores(value);
    const points = all.map((score, i) => [x(i / (count - 1)), y(score), score]);
    curve.setAttribute(
      "d",
      `M${points
        .filter(([, , score]) => score >= LOW)
        .map(([a, b]) => `${a} ${b}`)
        .join("L")}`,
    );
    own.setAttribute("d", `M${x(t)} ${box.top}V${box.bottom}`);
    ownName.setAttribute("x", String(x(t) + 9));
    dot.to({ x: x(at / (count - 1)), y: y(held(all[at])) }, { jump });
  }
  return { height: 196, pose };
}

function render({ model, el }) {
  const { stages } = model.get("data");
  const epochs = Object.keys(stages);
  const count = stages[epochs[0]].right.length;
  const state = connect(model);
  const compute = remember(({ stage: epoch, t }) => {
    const { right, wrong } = stages[epoch];
    return right.map((share, i) => scoreOf(t, share, wrong[i]));
  });
  const scores = ({ stage: epoch, t }) => compute({ stage: epoch, t });
  const ownAt = (t) => Math.round(t * (count - 1));
  const cells = ["yours", "own", "best", "where"].map((name) =>
    element("td", { "data-name": name }),
  );
  state.draw((value) => {
    const all = scores(value),
      best = argmax(all);
    write(cells[0], all[value.at], 3);
    write(cells[1], all[ownAt(value.t)], 3);
    write(cells[2], all[best], 3);
    write(cells[3], best / (count - 1), 2);
  });
  const numbers = element(
    "table",
    {},
    element(
      "tbody",
      {},
      tableRow("your threshold", cells[0]),
      tableRow("surer than t", cells[1]),
      tableRow("best threshold", cells[2]),
      tableRow("which is", cells[3]),
    ),
  );
  const tell = (value) => {
    const all = scores(value),
      gap = Math.max(...all) - all[value.at];
    const { right, wrong } = stages[value.stage];
    const answered = right[value.at] + wrong[value.at];
    const verdict =
      gap <= CLOSE
        ? "No other threshold scores more."
        : `The best threshold scores ${format(gap, 3)} more.`;
    return `A wrong answer costs ${format(value.t / (1 - value.t), 1)} points, a right one gives 1. After ${value.stage} epochs your threshold answers ${format(100 * answered, 0)} % of the questions and scores ${format(all[value.at], 2)}. ${verdict}`;
  };
  const isBest = (value) => Math.max(...scores(value)) - scores(value)[value.at] <= CLOSE;
  const puzzles = [
    ...epochs.map((epoch) => ({
      text: `With t = .75, after ${epoch} epochs, find the threshold that scores most.`,
      reached: (value) => value.stage === epoch && value.t === 0.75 && isBest(value),
    })),
    {
      text: "Set marks under which answering everything scores below nothing.",
      reached: (value) => value.at === 0 && scores(value)[0] < 0,
    },
    {
      text: "Set marks under which answering everything is best.",
      reached: (value) => value.at === 0 && Math.max(...scores(value)) - scores(value)[0] < 1e-9,
    },
  ].filter(({ reached }) => !reached(state.value));
  frame(
    el,
    "Marks make the policy",
    tabs(
      state,
      "stage",
      "trained for",
      epochs.map((epoch) => [epoch, `${epoch} epochs`]),
    ),
    stage(state, "The score, over the threshold", (root, width) =>
      build(root, width, { count, scores }),
    ),
    element(
      "div",
      { class: "cl-side" },
      element(
        "div",
        {},
        slider(state, "t", "marks, t", {
          min: 0,
          max: 0.9,
          step: 0.05,
          describe: (t) => `${format(t)}: a wrong answer costs ${format(t / (1 - t), 1)}`,
        }),
        slider(state, "at", "your threshold", {
          min: 0,
          max: count - 1,
          describe: (at) => format(at / (count - 1)),
        }),
      ),
      numbers,
    ),
    announce(state, tell),
    goals(state, puzzles),
  );
  return state.close;
}

export default { render };
