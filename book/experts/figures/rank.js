// What a cache of c numbers loses, cut in two ways, over c; and its bytes after 4,096 tokens.

import { axes } from "../../page/kit/axes.js";
import { connect, slider } from "../../page/kit/controls.js";
import { announce, drawing, format, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { answerList } from "../../page/kit/tables.js";

const TOKENS = 4096;
const LOOKS = [
  { name: "plain", tone: "--second", dash: "6 4", letter: "A" },
  { name: "weighted", tone: "--first", dash: "none", letter: "B" },
];

function build(root, width, { ranks, lost }) {
  const height = 220,
    box = { left: 44, right: width - 14, top: 12, bottom: height - 38 };
  const most = Math.max(...lost.flat());
  const { x, y } = axes(root, box, {
    x: { first: ranks[0], last: ranks.at(-1), log: true, ticks: ranks },
    y: { first: 0, last: most, ticks: [0, most / 2, most], text: (loss) => format(loss) },
  });
  root.append(
    label(
      "numbers c in the cache, per token and layer",
      (box.left + box.right) / 2,
      height - 4,
      "cl-quiet",
    ),
  );
  const ruler = part(root, drawing("path", { class: "cl-line", d: `M0 ${box.top}V${box.bottom}` }));
  const dots = LOOKS.map(({ name, tone, dash, letter }, k) => {
    const points = ranks.map((c, i) => `${x(c)} ${y(Math.max(0, lost[i][k]))}`);
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
    );
    const last = ranks.length - 2;
    root.append(
      label(letter, x(ranks[last]) + (k ? 14 : -12), y(lost[last][k]) + (k ? 8 : -8), "cl-strong"),
    );
    return part(root, drawing("circle", { r: 4.5, style: `fill: var(${tone})` }));
  });
  const pose = ({ at }) => {
    ruler.to({ x: x(ranks[at]) }, { jump: true });
    dots.forEach((dot, k) =>
      dot.to({ x: x(ranks[at]), y: y(Math.max(0, lost[at][k])) }, { jump: true }),
    );
  };
  return { height, pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const { ranks, lost, full, layers } = data;
  const state = connect(model);
  const size = (c) => 4 * c * layers * TOKENS;
  const tell = (at) =>
    `c = ${ranks[at]}: after ${format(TOKENS, 0)} tokens ${format(size(ranks[at]) / 1024, 0)} KiB ` +
    `instead of ${format(size(full) / 1024, 0)}. The plain cut loses ${format(lost[at][0], 3)} nats ` +
    `per token, the weighted one ${format(lost[at][1], 3)}.`;
  const all = ranks.map((_, i) => i);
  const start = state.value.at;
  const last = (test) => all.findLast(test);
  const puzzles = [
    [
      "Find the smallest cache that loses less than 0.02 nats with the weighted cut.",
      last((i) => lost[i][1] < 0.02),
    ],
    [
      "Find where the weighted cut saves the most, in nats.",
      all.reduce((a, b) => (lost[b][0] - lost[b][1] > lost[a][0] - lost[a][1] ? b : a)),
    ],
  ];
  frame(
    el,
    "A narrower cache",
    stage(state, "Nats per token lost, over the numbers in the cache", (root, width) =>
      build(root, width, data),
    ),
    slider(state, "at", "numbers c =", {
      min: 0,
      max: ranks.length - 1,
      describe: (at) => String(ranks[at]),
    }),
    answerList(state, "lost", ({ at }) => [
      ["A plain cut of the weights", lost[at][0]],
      ["B weighted by the inputs", lost[at][1]],
    ]),
    announce(state, ({ at }) => tell(at), all.map(tell)),
    goals(
      state,
      puzzles
        .filter(([, wanted]) => wanted !== undefined && wanted !== start)
        .map(([text, wanted]) => ({ text, reached: ({ at }) => at === wanted })),
    ),
  );
  return state.close;
}

export default { render };
