// The load of each expert, in one batch or as a mean of all: a herd is seen in one of them only.

import { connect, slider, tabs } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax } from "../../page/kit/numerics.js";
import { label, stage } from "../../page/kit/stage.js";

css`
  .cl-herd rect {
    fill: var(--first);
    transition:
      y 0.3s,
      height 0.3s;
  }
  @media (prefers-reduced-motion: reduce) {
    .cl-herd rect {
      transition: none;
    }
  }
`;

function build(root, width, { count, now }) {
  const height = 190,
    bottom = height - 26,
    room = width / count;
  const up = (share) => 20 + (bottom - 20) * (1 - share);
  const texts = [];
  const bars = Array.from({ length: count }, (_, i) => {
    const bar = drawing("rect", { x: (i + 0.2) * room, width: 0.6 * room });
    const text = label("", (i + 0.5) * room, 0, "cl-over");
    text.dataset.name = "load";
    texts.push(text);
    root.append(label(String(i + 1), (i + 0.5) * room, height - 8, "cl-quiet"));
    return { bar, text };
  });
  root.append(
    drawing(
      "g",
      { class: "cl-herd" },
      bars.map(({ bar }) => bar),
    ),
    drawing("path", {
      class: "cl-line",
      style: "stroke-dasharray: 4 4",
      d: `M0 ${up(1 / count)}H${width}`,
    }),
    ...texts,
  );
  const pose = (value) =>
    now(value).forEach((share, i) => {
      bars[i].bar.setAttribute("y", String(up(share)));
      bars[i].bar.setAttribute("height", String(bottom - up(share)));
      bars[i].text.setAttribute("y", String(up(share) - 5));
      write(bars[i].text, share);
    });
  return { height, pose };
}

function render({ model, el }) {
  const { loads } = model.get("data");
  const state = connect(model);
  const count = loads[0].length;
  const mean = loads[0].map((_, i) => loads.reduce((sum, row) => sum + row[i], 0) / loads.length);
  const now = ({ view, batch }) => (view === "mean" ? mean : loads[batch]);
  const leader = (value) => argmax(now(value));
  const tell = (value) => {
    const most = leader(value);
    return (
      (value.view === "mean" ? `Over ${loads.length} batches` : `In batch ${value.batch + 1}`) +
      ` expert ${most + 1} has most: ${format(now(value)[most])} of the questions, where ` +
      `${format(1 / count, 3)} would be even.`
    );
  };
  const start = argmax(loads[state.value.batch]);
  const largest = Math.max(...loads.flat());
  frame(
    el,
    "Herd",
    stage(
      state,
      "The share of the questions that each expert gets; dashed: an even share",
      (root, width) => build(root, width, { count, now }),
    ),
    element(
      "div",
      { class: "cl-controls" },
      tabs(state, "view", "load", [
        ["mean", `mean of ${loads.length} batches`],
        ["batch", "one batch"],
      ]),
      slider(state, "batch", "batch", {
        min: 0,
        max: loads.length - 1,
        describe: (batch) => String(batch + 1),
      }),
    ),
    announce(state, tell),
    goals(state, [
      {
        text: "Find a batch whose busiest expert is not that of the first one shown.",
        reached: (value) => value.view === "batch" && leader(value) !== start,
      },
      {
        text: "Find the most crowded batch.",
        reached: (value) => value.view === "batch" && Math.max(...now(value)) === largest,
      },
    ]),
  );
  return state.close;
}

export default { render };
