// Byte-pair encoding on six words: letters stay, and the pieces round them grow.

import { connect, remember } from "../../page/kit/controls.js";
import { css, drawing, element, frame, steady, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp } from "../../page/kit/numerics.js";
import { textInput, wordsOf } from "../../page/kit/sentences.js";
import { part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";
import { shareBar } from "../../page/kit/tables.js";

css`
  .cl-found-pairs {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4rem 2.4rem;
    align-items: start;
    p {
      margin: 0 0 0.3rem;
    }
    > div {
      flex: 1 1 15rem;
    }
  }
`;

/** What is known after each of the merges: [{ rows: the pieces of each word, pairs: [[left, right,
    count]], the most frequent first, vocabulary }]. Of equally frequent pairs the one with the
    older pieces comes first; letters are as old as their place in the alphabet. */
function merges(words, most) {
  const vocabulary = [...new Set(words.join(""))].sort();
  let rows = words.map((word) => [...word]);
  const states = [];
  for (;;) {
    const counts = new Map();
    for (const row of rows) {
      for (let i = 1; i < row.length; i++) {
        const pair = `${row[i - 1]} ${row[i]}`;
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    }
    const age = (piece) => vocabulary.indexOf(piece);
    const pairs = [...counts]
      .map(([pair, count]) => [...pair.split(" "), count])
      .sort((p, q) => q[2] - p[2] || age(p[0]) - age(q[0]) || age(p[1]) - age(q[1]));
    states.push({ rows, pairs, vocabulary: [...vocabulary] });
    if (states.length > most) return states;
    if (pairs.length > 0) {
      const [left, right] = pairs[0];
      if (!vocabulary.includes(left + right)) vocabulary.push(left + right);
      rows = rows.map((row) => joined(row, left, right));
    }
  }
}

/** The pieces of a word, with every occurrence of the pair, from the left, made one. */
function joined(row, left, right) {
  const found = [];
  for (let i = 0; i < row.length; i++) {
    const fits = row[i] === left && row[i + 1] === right;
    found.push(fits ? left + right : row[i]);
    if (fits) i++;
  }
  return found;
}

function render({ model, el }) {
  const { steps, words: count, letters } = model.get("data");
  const state = connect(model);
  const all = remember((text) => merges(wordsOf(text), steps));
  const now = ({ text, step }) => all(text)[step];

  /** Of each letter: the piece that begins there ("" inside one), and how many went before. */
  const places = (row) => {
    const found = [];
    row.forEach((piece, before) =>
      [...piece].forEach((letter, i) => found.push({ letter, piece: i ? "" : piece, before })),
    );
    return found;
  };

  const pitch = 15,
    gap = 9,
    high = 30;
  const scene = stage(state, "The six words, cut into pieces", (root, width) => {
    const room = letters * (pitch + gap) + 6;
    const columns = clamp(Math.floor(width / room), 1, 3);
    const slots = Array.from({ length: count }, (_, word) => {
      const x = (word % columns) * (width / columns) + 2,
        y = Math.floor(word / columns) * (high + 14) + 4;
      const boxes = Array.from({ length: letters }, () => {
        const rect = drawing("rect", { height: high, rx: 7 });
        const node = drawing("g", { class: "cl-token" }, rect);
        const grow = ({ w }) => rect.setAttribute("width", w);
        return part(root, node, { x, y, w: 0 }, grow);
      });
      const texts = Array.from({ length: letters }, () => {
        const text = drawing("text", { y: high / 2 + 5 });
        return { text, ...part(root, drawing("g", { class: "cl-token" }, text), { x, y }) };
      });
      return { x, y, boxes, texts };
    });
    const pose = (value, moved) => {
      const { rows, pairs } = now(value);
      const [left, right] = pairs[0] ?? [];
      rows.forEach((row, word) => {
        const { x, boxes, texts } = slots[word],
          found = places(row);
        for (let i = 0; i < letters; i++) {
          const { letter, piece, before } = found[i] ?? { letter: "", piece: "", before: 0 };
          const at = x + i * pitch + before * gap;
          const next =
            (piece === left && row[before + 1] === right) ||
            (piece === right && row[before - 1] === left);
          boxes[i].node.dataset.piece = piece;
          boxes[i].node.classList.toggle("cl-pressed", piece !== "" && next);
          boxes[i].to({ x: at, w: piece.length * pitch + 4, o: piece ? 1 : 0 }, moved);
          texts[i].text.textContent = letter;
          texts[i].to({ x: at + pitch / 2 + 2, o: letter ? 1 : 0 }, moved);
        }
      });
    };
    return { height: Math.ceil(count / columns) * (high + 14) + 2, pose };
  });

  const wrong = (text) => {
    const words = wordsOf(text);
    const fits = words.every((word) => /^[a-z]+$/.test(word) && word.length <= letters);
    return words.length === count && fits
      ? ""
      : `Write ${count} words of at most ${letters} letters from a to z.`;
  };
  const own = textInput(state, "text", {
    "aria-label": "your six words",
    complaint: wrong,
    change: (text) => (wrong(text) ? null : { text: wordsOf(text).join(" "), step: 0 }),
  });

  const every = all(state.value.text).map((_, step) => ({ ...state.value, step }));
  const counts = element("div", { class: "cl-answers", "data-name": "pairs" });
  counts.style.alignContent = "start";
  steady(state, counts, every, (value) => {
    const { pairs } = now(value);
    counts.replaceChildren(
      ...pairs
        .slice(0, 5)
        .flatMap(([left, right, number]) => [
          element("span", {}, `${left} + ${right}`),
          shareBar(number / pairs[0][2], { "aria-hidden": "true" }),
          write(element("span"), number, 0),
        ]),
    );
  });
  const vocabulary = element("p", { "data-name": "vocabulary" }),
    tokens = element("b", { "data-name": "tokens" });
  steady(state, vocabulary, every, (value) => {
    const { rows, vocabulary: pieces } = now(value);
    write(tokens, rows.flat().length, 0);
    vocabulary.replaceChildren(
      ...pieces.flatMap((piece) => [element(piece.length > 1 ? "b" : "span", {}, piece), " "]),
    );
  });

  const caption = (value) => {
    const { pairs } = now(value);
    const before = value.step === 0 ? null : all(value.text)[value.step - 1].pairs[0];
    const done = before
      ? `${before[0]} + ${before[1]} became ${before[0]}${before[1]}. `
      : "Every letter is a piece of its own. ";
    if (pairs.length === 0) return "Every word is one token: nothing is left to join.";
    const [left, right, number] = pairs[0],
      often = number === 1 ? "once" : `${number} times`;
    return `${done}The most frequent pair is now ${left} + ${right}, ${often}: it is joined next.`;
  };
  const names = Array.from({ length: steps + 1 }, (_, i) => ({ name: String(i), caption }));
  frame(
    el,
    "Byte pairs, one merge at a time",
    element(
      "label",
      {
        class: "cl-control",
        style: "grid-template-columns: auto minmax(0, 1fr); align-items: center",
      },
      "the text",
      own.input,
    ),
    own.alert,
    scene,
    element(
      "div",
      { class: "cl-found-pairs" },
      element("div", {}, element("p", { class: "cl-quiet" }, "The most frequent pairs:"), counts),
      element(
        "div",
        {},
        element("p", { class: "cl-quiet" }, "The vocabulary:"),
        vocabulary,
        element("p", {}, "Tokens: ", tokens),
      ),
    ),
    stepper(state, { steps: names, pace: 2400 }),
    goals(state, [
      {
        text: "Go on until a whole word is one token.",
        reached: (value) => now(value).rows.some((row) => row.length === 1 && row[0].length > 1),
      },
      {
        text: "Write six words whose first piece is th.",
        reached: ({ text }) => all(text)[1].vocabulary.includes("th"),
      },
    ]),
  );
  return state.close;
}

export default { render };
