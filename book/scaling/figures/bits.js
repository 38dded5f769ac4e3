// Lines of code, each token with the bits that it cost a model, and what the model expected there.

import { choice, connect, slider } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax } from "../../page/kit/numerics.js";
import { label, stage } from "../../page/kit/stage.js";
import { answerList } from "../../page/kit/tables.js";

const LETTER = 8.5, // width of a character
  TALL = 44, // of the longest bar
  ROW = 84;

const spelled = (text) => text.replaceAll(" ", "·").replaceAll("\n", "⏎");
const bitsOf = ({ log_p }) => -log_p / Math.LN2 || 0;
const bitsOfLine = (tokens) => tokens.reduce((sum, token) => sum + bitsOf(token), 0);
const charactersOf = (tokens) => Array.from(tokens.map(({ text }) => text).join("")).length;

const wideOf = ({ text }) => Array.from(spelled(text)).length * LETTER + 7;

/** Where the tokens of a line stand, as [x, row]. */
function placed(tokens, width) {
  let x = 2,
    row = 0;
  return tokens.map((token) => {
    const wide = wideOf(token);
    if (x + wide > width && x > 2) [x, row] = [2, row + 1];
    const place = [x, row];
    x += wide + 1;
    return place;
  });
}

function build(root, width, lines, line, most, pick) {
  const tokens = lines[line],
    places = placed(tokens, width);
  const cells = tokens.map((token, i) => {
    const [x, row] = places[i],
      text = spelled(token.text),
      wide = wideOf(token);
    const bits = bitsOf(token),
      tall = (bits / most) * TALL,
      y = row * ROW + TALL + 8;
    const bar = { x: x + 1, y: y - tall, width: wide - 3, height: tall, rx: 1.5 };
    const box = drawing("rect", { class: "cl-unit", x, y: y + 3, width: wide - 1, height: 25 });
    const written = label("", x + wide / 2, y + 20);
    written.textContent = text; // an underscore lowers nothing here
    written.style.fontFamily = "monospace";
    const filled = drawing("rect", { "data-name": "bar", style: "fill: var(--first)", ...bar });
    filled.dataset.value = String(bits);
    const hit = { class: "cl-hit", x, y: y - TALL, width: wide, height: ROW - 10 };
    const node = drawing("g", { style: "cursor: pointer" }, filled, box, written);
    node.append(drawing("rect", hit));
    node.addEventListener("click", () => pick(i));
    root.append(node);
    return { box, written };
  });
  return {
    // of the longest line, so that nothing below moves
    height: ROW * (1 + Math.max(...lines.map((tokens) => placed(tokens, width).at(-1)[1]))),
    pose({ at }) {
      cells.forEach(({ box, written }, i) => {
        box.style.stroke = i === at ? "var(--second)" : "";
        box.style.strokeWidth = i === at ? 3 : "";
        written.classList.toggle("cl-strong", i === at);
      });
    },
  };
}

function render({ model, el }) {
  const { lines } = model.get("data");
  const state = connect(model);
  const most = Math.max(...lines.flat().map(bitsOf));
  const here = ({ line, at }) => lines[line][at];
  const picture = stage(
    state,
    "A line of code and the bits that its tokens cost",
    (root, width, { line }) => build(root, width, lines, line, most, (at) => state.set({ at })),
    { key: ({ line }) => line },
  );
  const lineOf = choice(
    state,
    "line",
    "line",
    lines.map((_, i) => [i, `line ${i + 1}`]),
    { change: (line) => ({ line, at: 0 }) },
  );
  const token = slider(state, "at", "token", {
    min: 0,
    max: ({ line }) => lines[line].length - 1,
    describe: (at, { line }) => `${at + 1} of ${lines[line].length}`,
  });
  const expected = answerList(state, "expected", (value) =>
    here(value).expected.map(([text, p]) => [`“${spelled(text)}”`, p]),
  );
  const tell = (value) => {
    const tokens = lines[value.line],
      whole = bitsOfLine(tokens),
      each = whole / charactersOf(tokens);
    return (
      `“${spelled(here(value).text)}” cost ${format(bitsOf(here(value)))} bits. The whole line: ` +
      `${format(whole, 1)} bits for ${charactersOf(tokens)} characters, ${format(each)} for each.`
    );
  };
  const told = lines.flatMap((tokens, line) => tokens.map((_, at) => tell({ line, at })));
  const dearest = argmax(lines[0].map(bitsOf));
  const cheap = ({ text, log_p }) => text.trim().length >= 3 && bitsOf({ log_p }) < 0.2;
  const puzzles = [
    {
      text: "In line 1, find the token that cost most.",
      reached: ({ line, at }) => line === 0 && at === dearest,
    },
    lines.flat().some(cheap) && {
      text: "Find a token of three letters or more that cost less than a fifth of a bit.",
      reached: (value) => cheap(here(value)),
    },
  ].filter(Boolean);
  frame(
    el,
    "What each token cost",
    element("div", { class: "cl-controls" }, lineOf, token),
    picture,
    element("p", {}, "What the model expected at the marked token, with its probability:"),
    expected,
    announce(state, tell, told),
    goals(state, puzzles),
  );
  return state.close;
}

export default { render };
