// What is lost, and what is written, over the number of words that are kept of each guess.

import { axes } from "../../page/kit/axes.js";
import { connect, slider } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { answerList } from "../../page/kit/tables.js";

css`
  .cl-six {
    list-style: none;
    margin: 0.5rem 0;
    padding: 0;
    min-height: 9.4rem;
  }
  .cl-six li {
    margin: 0 0 0.15rem;
    padding-left: 1.5rem;
    text-indent: -1.5rem;
  }
  .cl-six li::before {
    content: "✗ ";
    display: inline-block;
    width: 1.5rem;
    text-indent: 0;
    color: var(--second);
  }
  .cl-six li.cl-good::before {
    content: "✓ ";
    color: var(--first);
  }
  .cl-six li.cl-good {
    font-weight: 650;
  }
`;

/** The curve of what is lost, a dot for each number of words kept, and a ring around one. */
function build(root, width, rows) {
  const box = { left: 40, right: width - 12, top: 12, bottom: 116 };
  const top = Math.max(5, Math.ceil(Math.max(...rows.map(({ lost }) => lost)) / 5) * 5);
  const { x, y } = axes(root, box, {
    x: {
      first: -0.3,
      last: rows.length - 0.7,
      ticks: rows.map((_, i) => i),
      text: (i) => rows[i].kept,
    },
    y: { first: 0, last: top, ticks: [0, top / 2, top] },
  });
  root.append(
    label(
      "words kept of each guess; nats lost per sentence",
      (box.left + width) / 2,
      162,
      "cl-quiet",
    ),
  );
  const points = rows.map(({ lost }, i) => `${x(i)} ${y(lost)}`);
  root.append(
    drawing("path", { class: "cl-line", style: "stroke: var(--first)", d: `M${points.join("L")}` }),
    ...rows.map(({ lost }, i) =>
      drawing("circle", { cx: x(i), cy: y(lost), r: 3.5, style: "fill: var(--first)" }),
    ),
  );
  const ring = part(
    root,
    drawing("circle", { r: 8, style: "fill: none; stroke: var(--ink); stroke-width: 2.5" }),
  );
  return { height: 158, pose: ({ at }, move) => ring.to({ x: x(at), y: y(rows[at].lost) }, move) };
}

function render({ model, el }) {
  const { rows } = model.get("data");
  const state = connect(model);
  const last = rows.length - 1;
  const tell = ({ at }) => {
    const { kept, lost, share, passes } = rows[at];
    return (
      `Keeping ${kept} of each guess takes ${format(passes, 1)} passes for a sentence and loses ` +
      `${format(lost, 1)} nats; ${format(100 * share, 0)} % of what is written is in the language.`
    );
  };
  const list = element("ul", { class: "cl-six", "aria-label": "six sentences" });
  state.draw(({ at }) =>
    list.replaceChildren(
      ...rows[at].texts.map(([text, good]) =>
        element(
          "li",
          { class: good ? "cl-good" : "" },
          text,
          element("span", { class: "cl-hidden" }, good ? ", in the language" : ", not in it"),
        ),
      ),
    ),
  );
  const start = state.value.at;
  const middle = (rows[0].lost + rows[last].lost) / 2;
  const where = (test) => rows.map((_, i) => i).filter(test);
  const puzzles = [
    {
      text: "Find the smallest number kept that loses more than half-way between one and all.",
      wanted: where((i) => rows[i].lost > middle)[0],
    },
    {
      text: "Keep as many as you can, with one sentence in twenty in the language.",
      wanted: where((i) => rows[i].share >= 0.05).at(-1),
    },
    { text: "Write with the fewest passes.", wanted: last },
  ].filter(({ wanted }) => wanted !== undefined && wanted !== start);
  frame(
    el,
    "How much of each guess is kept",
    stage(state, "Nats lost per sentence, over the number of words kept", (root, width) =>
      build(root, width, rows),
    ),
    slider(state, "at", "words kept =", {
      min: 0,
      max: last,
      describe: (at) => rows[at].kept,
    }),
    answerList(state, "found", ({ at }) => [["share in the language", rows[at].share]]),
    list,
    announce(
      state,
      tell,
      rows.map((_, at) => tell({ at })),
    ),
    goals(
      state,
      puzzles.map(({ text, wanted }) => ({ text, reached: ({ at }) => at === wanted })),
    ),
  );
  return state.close;
}

export default { render };
