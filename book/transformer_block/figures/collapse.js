// The words of a sentence as points in a plane, block by block, with residual connections and without.

import { choice, connect } from "../../page/kit/controls.js";
import { drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp } from "../../page/kit/numerics.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

/** A plane with its words, at (x, y): `pose(film, height)` moves them. */
function field(root, words, title, name, x, y, size) {
  const scale = (0.94 * size) / 2; // all words at unit length on average
  const centre = [x + size / 2, y + size / 2];
  root.append(
    label(title, x, y - 9, "cl-strong cl-start"),
    drawing("rect", { class: "cl-axis", x, y, width: size, height: size, rx: 8 }),
    drawing("path", {
      class: "cl-axis",
      d: `M${x} ${centre[1]}h${size}M${centre[0]} ${y}v${size}`,
      opacity: 0.5,
    }),
  );
  const trails = words.map(() => drawing("path", { class: "cl-shaft", opacity: 0.35 }));
  root.append(drawing("g", { class: "cl-stream" }, trails));
  const points = words.map((word) => {
    const edge = "stroke: var(--tone); stroke-width: 2";
    const dot = drawing("circle", { class: "cl-paper", r: 11, style: edge });
    const name = drawing("text", { y: 4.5, class: "cl-strong" }, word);
    return part(root, drawing("g", { class: "cl-stream" }, dot, name));
  });
  const bottom = y + size + 6;
  const bar = drawing("rect", { class: "cl-tint", height: 10, rx: 2 });
  const filled = part(
    root,
    drawing("g", { class: "cl-stream" }, bar),
    { x, y: bottom, w: 0 },
    ({ w }) => bar.setAttribute("width", w),
  );
  const share = drawing("tspan", { "data-name": name });
  root.append(
    drawing("rect", { class: "cl-axis", x, y: bottom, width: size, height: 10, rx: 2 }),
    drawing("text", { x: x + size, y: y - 9, class: "cl-end" }, "difference ", share),
  );
  const at = ([a, b]) => [centre[0] + a * scale, centre[1] - b * scale];
  return {
    pose({ points: film, shares }, height, move) {
      points.forEach((point, i) => {
        const [px, py] = at(film[height][i]);
        point.to({ x: px, y: py }, move);
        const way = film.slice(0, height + 1).map((places) => at(places[i]).join(" "));
        trails[i].setAttribute("d", `M${way.join("L")}`);
      });
      filled.to({ w: clamp(shares[height], 0, 1) * size }, move);
      write(share, shares[height], 3);
    },
  };
}

function render({ model, el }) {
  const { words, kept, others } = model.get("data");
  const state = connect(model);
  const depth = kept.shares.length - 1;
  const picture = stage(state, "The words in a plane", (root, width) => {
    const beside = width >= 560;
    const size = Math.floor(beside ? Math.min(238, (width - 40) / 2) : Math.min(width, 320));
    const edge = beside ? (width - 2 * size - 40) / 2 : (width - size) / 2;
    const next = beside ? [edge + size + 40, 24] : [edge, size + 76];
    const fields = [
      field(root, words, "with residuals", "kept", edge, 24, size),
      field(root, words, "without", "lost", ...next, size),
    ];
    return {
      height: next[1] + size + 20,
      pose({ other, step }, move) {
        fields[0].pose(kept, step, move);
        fields[1].pose(others[other], step, move);
      },
    };
  });
  const say =
    (height) =>
    ({ other }) => {
      const lost = others[other].shares[height];
      const start = height ? `After block ${height}` : "Before the first block";
      const verdict = lost < 0.01 ? " All words are as good as one point." : "";
      return `${start}, ${format(kept.shares[height], 3)} of the words’ length is difference between them with residual connections, ${format(lost, 3)} without (${other}).${verdict}`;
    };
  const steps = kept.shares.map((_, height) => ({
    name: height ? `block ${height}` : "words",
    caption: say(height),
  }));
  const shares = ({ other }) => others[other].shares;
  const puzzles = goals(state, [
    {
      text: "Without residuals: find the first block after which the difference is below 0.01.",
      reached: (value) =>
        value.step > 0 && shares(value)[value.step] < 0.01 && shares(value)[value.step - 1] >= 0.01,
    },
    {
      text: "Find a stack without residuals whose words are still apart after the last block.",
      reached: (value) => value.step === depth && shares(value)[depth] > 0.3,
    },
  ]);
  const pick = choice(state, "other", "the stack without:", Object.keys(others));
  pick.style.gridTemplateColumns = "auto minmax(0, auto)"; // label and list in one row
  pick.style.alignItems = "center";
  frame(
    el,
    "The words on their way up",
    element("div", { class: "cl-controls" }, pick),
    picture,
    stepper(state, { steps, pace: 1800 }),
    puzzles,
  );
  return state.close;
}

export default { render };
