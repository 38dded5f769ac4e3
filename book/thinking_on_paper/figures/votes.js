// How often an answer is right that is chosen from k samples, by several ways to choose.

import { axes } from "../../page/kit/axes.js";
import { connect, slider } from "../../page/kit/controls.js";
import { announce, drawing, format, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { answerList } from "../../page/kit/tables.js";

const LOOKS = [
  { tone: "--quiet", dash: "2 4" },
  { tone: "--ink", dash: "9 4" },
  { tone: "--first", dash: "none" },
  { tone: "--second", dash: "none" },
  { tone: "--quiet", dash: "9 3 2 3" },
];

/** The curves over k, with a letter on each and a ruler at the k that is set. */
function build(root, width, { names, shares, most }) {
  const edge = { left: 40, right: 12, top: 12, bottom: 34 };
  const height = Math.min(196, Math.max(190, width * 0.42));
  const { x, y } = axes(
    root,
    { left: edge.left, right: width - edge.right, top: edge.top, bottom: height - edge.bottom },
    {
      x: { first: 1, last: most, ticks: [1, most / 4, most / 2, (3 * most) / 4, most] },
      y: { first: 0, last: 1, ticks: [0, 0.25, 0.5, 0.75, 1], text: (share) => format(share) },
    },
  );
  root.append(label("samples k", (edge.left + width) / 2, height - 2, "cl-quiet"));
  const up = height - edge.top - edge.bottom;
  const ruler = part(root, drawing("path", { class: "cl-line", d: `M0 ${edge.top}v${up}` }));
  const dots = names.map((name, i) => {
    const { tone, dash } = LOOKS[i];
    const points = shares[name].map((share, k) => `${x(k + 1)} ${y(share)}`);
    const at = Math.round(most * (0.3 + 0.13 * i));
    root.append(
      drawing(
        "g",
        { "data-curve": name },
        drawing("path", {
          class: "cl-line",
          style: `stroke: var(${tone}); stroke-width: 2.2; stroke-dasharray: ${dash}`,
          d: `M${points.join("L")}`,
        }),
      ),
      drawing(
        "g",
        { transform: `translate(${x(at)} ${y(shares[name][at - 1])})` },
        drawing("circle", { class: "cl-paper", r: 7.5 }),
        label(String.fromCharCode(65 + i), 0, 4.5, "cl-strong"),
      ),
    );
    return part(root, drawing("circle", { r: 4.5, style: `fill: var(${tone})` }));
  });
  const pose = ({ k }) => {
    ruler.to({ x: x(k) }, { jump: true });
    dots.forEach((dot, i) => dot.to({ x: x(k), y: y(shares[names[i]][k - 1]) }, { jump: true }));
  };
  return { height, pose };
}

function render({ model, el }) {
  const { shares, most } = model.get("data");
  const state = connect(model);
  const names = Object.keys(shares);
  const [, greedy, vote, checked, any] = names;
  const at = (name, k) => shares[name][k - 1];
  const lettered = (name) => `${String.fromCharCode(65 + names.indexOf(name))} ${name}`;
  const percent = (share) => `${format(100 * share, 0)} %`;
  const tell = (k) => {
    const gain = Math.round(100 * (at(vote, k) - at(greedy, k)));
    const points = Math.abs(gain) === 1 ? "point" : "points";
    const side = gain
      ? `${Math.abs(gain)} ${points} ${gain > 0 ? "above" : "below"}`
      : "level with";
    return (
      `With ${k === 1 ? "one sample" : `${k} samples`} the vote is right on ` +
      `${percent(at(vote, k))} of the sums, ${side} greedy decoding; after a check it is right ` +
      `on ${percent(at(checked, k))}.`
    );
  };
  const ks = Array.from({ length: most }, (_, i) => i + 1);
  const start = state.value.k;
  const first = (holds) => ks.find(holds);
  const puzzle = (text, wanted) => wanted && wanted !== start && { text, wanted };
  const puzzles = [
    puzzle(
      "Find the smallest k at which the plain vote is within two points of greedy decoding.",
      first((k) => at(vote, k) >= at(greedy, k) - 0.02),
    ),
    puzzle(
      "Find the smallest k at which the checked vote is ahead of greedy decoding.",
      first((k) => at(checked, k) > at(greedy, k)),
    ),
    puzzle(
      "Find the smallest k with which a perfect judge would be right on nine sums of ten.",
      first((k) => at(any, k) >= 0.9),
    ),
  ].filter(Boolean);
  frame(
    el,
    "Many samples, and ways to choose",
    stage(state, "Share of sums that are right, over the number of samples", (root, width) =>
      build(root, width, { names, shares, most }),
    ),
    slider(state, "k", "samples k =", { min: 1, max: most }),
    answerList(state, "right", ({ k }) => names.map((name) => [lettered(name), at(name, k)])),
    announce(state, ({ k }) => tell(k), ks.map(tell)),
    goals(
      state,
      puzzles.map(({ text, wanted }) => ({ text, reached: ({ k }) => k === wanted })),
    ),
  );
  return state.close;
}

export default { render };
