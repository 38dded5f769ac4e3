// Teacher forcing: the target slides one place to the right and becomes the decoder's input; the causal mask
// makes of every place a question of its own.

import { connect, slider } from "../../page/kit/controls.js";
import { css, drawing, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { html } from "../../page/kit/html.js";
import { group, label, part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

css`
  .cl-barred {
    fill: none;
    stroke: var(--quiet);
  }
`;

function render({ model, el }) {
  const { target } = model.get("data");
  const state = connect(model);
  const reads = ["[BOS]", ...target],
    says = [...target, "[EOS]"];
  const T = reads.length;
  const quoted = (words) => `\u201c${words.join(" ")}\u201d`;

  const steps = [
    {
      name: "answers",
      caption: `This is what the decoder has to say: one word at each of its ${T} positions, and at the last one that it has finished. What may it read at each of them?`,
    },
    {
      name: "shift",
      caption:
        "A copy of the target slides one position to the right, and [BOS] fills the gap. The copy is what the decoder reads: at each position the word before the one that it has to say.",
    },
    {
      name: "mask",
      caption: `Each position gets a row: a filled square is a word that it may look at. Its answer stands at the end of its row, and in the input one position beyond the last filled square.`,
    },
    {
      name: "one position",
      caption: ({ place }) =>
        html`Position ${place} may look at ${place} of the ${T} words of the input: ${quoted(reads.slice(0, place))}. It has to say <b>${says[place - 1]}</b>.`,
    },
  ];

  const picture = stage(state, "the decoder's input, the mask and the answers", (root, width) => {
    const left = 28,
      cell = Math.min(68, (width - left - 76) / T),
      tilt = cell < 62 ? -50 : 0, // long words side by side
      row = Math.min(cell, 25),
      top = tilt ? 62 : 30,
      middle = (i) => left + (i + 0.5) * cell,
      level = (i) => top + (i + 0.5) * row;
    const word = (text) => {
      const inner = label(text, 0, 4, `cl-strong ${tilt ? "cl-start" : ""}`);
      return part(root, drawing("g", {}, inner), { turn: tilt }, ({ turn }) => {
        inner.setAttribute("transform", `rotate(${turn})`);
      });
    };
    const rows = says.map((_, t) => {
      const cells = reads.map((_, s) => {
        const seen = s <= t;
        const at = { x: middle(s), y: level(t) };
        const side = row - 6;
        const shape = seen
          ? {
              x: at.x - side / 2,
              y: at.y - side / 2,
              width: side,
              height: side,
              rx: 3,
              class: "cl-tint",
            }
          : { d: `M${at.x - 3} ${at.y - 3}l6 6m0 -6l-6 6`, class: "cl-barred" };
        const node = drawing(seen ? "rect" : "path", { "data-name": "cell", ...shape });
        node.dataset.value = seen ? "1" : "0";
        return node;
      });
      const number = label(String(t + 1), 10, level(t) + 4, "cl-quiet");
      const hit = drawing("rect", { class: "cl-hit", y: level(t) - row / 2, width, height: row });
      hit.addEventListener("click", () => state.set({ step: 3, place: t + 1 }));
      return group(root, { o: 0 }, drawing("g", { class: "cl-attention" }, cells), number, hit);
    });
    const inputs = reads.map((text) => word(text));
    const answers = says.map((text) => word(text));
    const above = level(1), // where input and answers stand before the rows open
      below = above + (tilt ? 104 : 76);
    const asked = reads.map((_, i) =>
      group(root, {}, label("?", middle(i), above + 4, "cl-quiet")),
    );
    const names = [above, below].map((y, i) =>
      group(root, {}, label(i ? "says" : "reads", 0, y - (tilt ? 54 : 22), "cl-quiet cl-start")),
    );
    return {
      height: level(T - 1) + row / 2 + 8,
      pose({ step, place }, { jump }) {
        asked.forEach((mark) => mark.to({ o: step === 0 ? 1 : 0 }, { jump }));
        names[0].to({ o: step < 2 ? 1 : 0 }, { jump });
        names[1].to({ o: step < 2 ? 1 : 0 }, { jump });
        inputs.forEach((part, t) => {
          const o = step === 0 ? 0 : step < 3 || t < place ? 1 : 0.3;
          const y = step === 0 ? below : step === 1 ? above : top - 8;
          part.to({ x: middle(step === 0 ? t - 1 : t), y, o }, { jump });
        });
        answers.forEach((part, t) => {
          const o = step < 3 || t === place - 1 ? 1 : 0.3;
          const end = { x: left + T * cell + (tilt ? 6 : 36), y: level(t), turn: 0, o };
          part.to(step < 2 ? { x: middle(t), y: below, turn: tilt, o: 1 } : end, { jump });
        });
        rows.forEach((part, t) => {
          const o = step < 2 ? 0 : step < 3 || t === place - 1 ? 1 : 0.25;
          part.to({ o }, { jump, delay: step === 2 ? 90 * t : 0 });
        });
      },
    };
  });

  const asked = says[4],
    last = target.at(-1);
  const puzzles = goals(state, [
    {
      text: `Find the position that has to say \u201c${asked}\u201d.`,
      reached: ({ step, place }) => step === 3 && says[place - 1] === asked,
    },
    {
      text: `Find the position at which the decoder has just read \u201c${last}\u201d: what does it have to say there?`,
      reached: ({ step, place }) => step === 3 && reads[place - 1] === last,
    },
  ]);
  const places = slider(state, "place", "position", { min: 1, max: T, step: 1, describe: String });
  state.draw(({ step }) => {
    places.style.visibility = step < 3 ? "hidden" : ""; // nothing below moves
  });
  frame(el, "One sentence, many questions", picture, stepper(state, { steps }), places, puzzles);
  return state.close;
}

export default { render };
