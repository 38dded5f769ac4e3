// One sentence, three objectives: what the model reads, which places it may look at, what it is asked.

import { button, choice, connect, remember, slider, tabs } from "../../page/kit/controls.js";
import { css, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp } from "../../page/kit/numerics.js";
import { arrow, tokenRow } from "../../page/kit/parts.js";
import { group, label, part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

const FAMILIES = ["encoder-only", "decoder-only", "encoder-decoder"];
const [ENCODER, DECODER, BOTH] = FAMILIES;
const [READS, LOOKS, ASKED] = [0, 1, 2];
const TOKEN = 21; // height of a word's token

css`
  .cl-objectives .cl-turns {
    display: flex;
    flex-wrap: wrap;
    justify-content: space-between;
    gap: 0.2rem 1rem;
    margin-top: 0.5rem;
  }
  .cl-objectives .cl-controls {
    gap: 0.5rem;
    margin: 0;
  }
  .cl-objectives .cl-turns .cl-stack > [hidden] {
    display: flex; /* as wide and as high as when it is seen */
  }
  .cl-objectives button {
    padding: 0.25rem 0.6rem;
  }
  .cl-turns input[type="range"] {
    width: 9rem;
  }
`;

/** The rows of what is read, { word: number of a word of the sentence } or { name: special token }, and
    the questions: { row, word (the sentence's length: its end), loss, guess, p }. */
function task({ words, encoder, decoder, both }, { family, hidden, start, size }) {
  const n = words.length,
    all = words.map((_, i) => ({ word: i }));
  const asked = (row, word, [loss, guess, p]) => ({ row, word, loss, guess, p });
  if (family === ENCODER) {
    const rows = all.map((row, i) => (hidden[i] ? { name: "[MASK]", mask: i } : row));
    const terms = encoder[hidden.reduce((code, on, i) => code + (on ? 2 ** i : 0), 0)];
    return {
      rows: [{ name: "[CLS]" }, ...rows, { name: "[SEP]" }],
      source: 0,
      questions: all.flatMap(({ word }) =>
        hidden[word] ? [asked(word + 1, word, terms[word])] : [],
      ),
      sees: () => true,
    };
  }
  if (family === DECODER) {
    return {
      rows: [{ name: "[BOS]" }, ...all],
      source: 0,
      questions: decoder.map((term, row) => asked(row, row, term)),
      sees: (i, j) => j <= i,
    };
  }
  const end = start - 1 + Math.min(size, n - start + 1),
    cut = all.slice(start - 1, end);
  const read = [...all.slice(0, start - 1), { name: "[MASK]", mask: start - 1 }, ...all.slice(end)];
  const source = read.length + 2;
  return {
    rows: [{ name: "[CLS]" }, ...read, { name: "[SEP]" }, { name: "[BOS]" }, ...cut],
    source,
    questions: both[`${start},${cut.length}`].map((term, t) =>
      asked(source + t, t < cut.length ? cut[t].word : n, term),
    ),
    sees: (i, j) => (i < source ? j < source : j < source || j <= i),
  };
}

const total = ({ questions }) => questions.reduce((sum, { loss }) => sum + loss, 0);
const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** What a step says, for the family that is chosen. */
function captions(words, now) {
  const name = (row) => row.name ?? words[row.word];
  const quoted = (list) => list.map((word) => `\u201c${word}\u201d`).join(", ");
  const reads = {
    [ENCODER]: ({ questions }) =>
      `The hidden words become [MASK]: ${questions.length ? quoted(questions.map(({ word }) => words[word])) : "none so far"}.`,
    [DECODER]: () => "Behind [BOS] the next word is missing at every position.",
    [BOTH]: ({ questions }) =>
      `One [MASK] stands for the gap. The decoder reads [BOS] and ${quoted(questions.slice(0, -1).map(({ word }) => words[word]))}.`,
  };
  return [
    (value) => reads[value.family](now(value)),
    (value) => {
      const { rows, sees, place } = now(value);
      const seen = rows.filter((_, j) => sees(place, j));
      return `The position of ${name(rows[place])} may look at ${seen.length} of ${rows.length} positions.`;
    },
    (value) => {
      const { questions, place } = now(value);
      const one = questions.find(({ row }) => row === place);
      const sum = `${counted(questions.length, "question")}, ${format(total(now(value)))} nats.`;
      if (!one) return `${sum} Nothing is asked at the marked position.`;
      const right = [...words, "[EOS]"][one.word];
      return `${sum} The answer here is \u201c${right}\u201d; the model puts \u201c${one.guess}\u201d first (${format(one.p)}).`;
    },
  ];
}

function build(root, width, data, now) {
  const { words } = data,
    n = words.length,
    pitch = 23,
    left = 62, // middle of what is read
    right = clamp(0.46 * width, 168, 320), // where an answer begins
    aside = right + 96, // where bars, and what stands in their place before, begin
    room = width - aside - 44, // of a bar
    roomy = width >= 640; // beside the words there is room for more than the answers
  const y = (row, source) => 34 + row * pitch + (source && row >= source ? 8 : 0);
  const heading = (text, x, name) => group(root, { o: 0 }, label(text, x, 14, `cl-quiet ${name}`));
  const heads = [
    [heading("is read", left, ""), [READS, LOOKS, ASKED]],
    [heading("is missing", right, "cl-start"), [READS, LOOKS]],
    [heading("is asked for", right, "cl-start"), [ASKED]],
    [heading("−log p", width, "cl-end"), [ASKED]],
  ];
  if (roomy) {
    heads.push(
      [heading("questions", aside, "cl-start"), [READS]],
      [heading("a row may look at these columns", aside, "cl-start"), [LOOKS]],
    );
  }
  const counts = FAMILIES.map((family, i) => {
    const name = label(family, aside, y(i) + 4, "cl-start");
    const bar = drawing("rect", { class: "cl-bar-of-answer", x: aside + 132, y: y(i) - 5 });
    fill(bar, { height: 10, rx: 2 }, []);
    const number = drawing("text", { class: "cl-end", x: width, y: y(i) + 4 });
    number.dataset.name = "count";
    return { family, name, bar, number, ...group(root, { o: 0 }, name, bar, number) };
  });
  const side = clamp((width - aside) / (n + 4), 3, 28);
  const cells = Array.from({ length: n + 4 }, () =>
    Array.from({ length: n + 4 }, (_, j) =>
      drawing("rect", { class: "cl-tip", x: j * side, width: side - 2, height: pitch - 3 }),
    ),
  );
  const edge = drawing("rect", { class: "cl-edge", x: -3, height: pitch + 2, rx: 3 });
  const grid = drawing("g", { class: "cl-attention", "data-name": "mask" }, cells.flat(), edge);
  const mask = part(root, grid, { x: aside, y: 0, o: 0 });
  const lines = Array.from({ length: n + 4 }, () =>
    arrow(root, "attention", { x1: left + 40, x2: right - 10, o: 0 }, { head: false }),
  );
  const token = (text, name) => tokenRow(root, [text], [left], { y: 24, height: TOKEN, name })[0];
  const texts = words.map((word) => token(word)),
    masks = words.map(() => token("[MASK]")),
    specials = Object.fromEntries(["[CLS]", "[SEP]", "[BOS]"].map((text) => [text, token(text)]));
  const answers = [...words, "[EOS]"].map((word) => {
    const name = label(word, 0, 4, "cl-start cl-strong"),
      bar = drawing("rect", { class: "cl-bar-of-answer", x: 62, y: -5, height: 10, rx: 2 }),
      number = drawing("text", { class: "cl-end", x: width - right, y: 4, "data-name": "term" });
    const node = drawing("g", {}, name, bar, number);
    const answer = part(root, node, { x: left, y: 0, w: 0, told: 0, o: 0 }, ({ w, told }) => {
      bar.setAttribute("width", Math.max(1, w));
      bar.style.opacity = number.style.opacity = told;
    });
    return { ...answer, number };
  });
  const marker = group(
    root,
    { o: 0 },
    drawing("rect", { class: "cl-line", x: left - 46, y: -13, width: 92, height: 26, rx: 13 }),
  );

  function pose(value, { jump }) {
    const { step } = value,
      { rows, source, questions, sees, place } = now(value);
    const most = Math.max(...questions.map(({ loss }) => loss), 1);
    const at = (row) => y(row, source) - TOKEN / 2;
    heads.forEach(([head, steps]) => head.to({ o: steps.includes(step) ? 1 : 0 }, { jump }));
    const asked = FAMILIES.map((family) => task(data, { ...value, family }).questions.length);
    counts.forEach(({ family, name, bar, number, to }, i) => {
      name.classList.toggle("cl-strong", family === value.family);
      const share = asked[i] / Math.max(...asked);
      bar.setAttribute("width", Math.max(1, share * Math.max(0, width - aside - 166)));
      write(number, asked[i], 0);
      to({ o: roomy && step === READS ? 1 : 0 }, { jump });
    });
    cells.forEach((row, i) =>
      row.forEach((cell, j) => {
        const there = i < rows.length && j < rows.length;
        cell.setAttribute("y", y(i, source) - pitch / 2 + 1.5);
        cell.style.opacity = !there ? 0 : sees(i, j) ? 1 : 0.12;
      }),
    );
    fill(edge, { y: y(place, source) - pitch / 2 - 1, width: rows.length * side + 4 }, []);
    mask.to({ o: roomy && step === LOOKS ? 1 : 0 }, { jump });
    const unread = { o: 0 };
    const where = new Map(rows.map((row, j) => [row.mask ?? row.word ?? row.name, j]));
    texts.forEach((text, i) => {
      const row = rows.findIndex(({ word }) => word === i);
      text.to(row < 0 ? unread : { y: at(row), o: 1 }, { jump });
    });
    masks.forEach((mask, i) => {
      const row = rows.findIndex((read) => read.mask === i);
      mask.to(row >= 0 ? { y: at(row), o: 1 } : unread, { jump });
    });
    Object.entries(specials).forEach(([text, special]) => {
      const row = where.get(text);
      special.to(row >= 0 ? { y: at(row), o: 1 } : unread, { jump });
    });
    lines.forEach((line, j) => {
      const o = step >= LOOKS && j < rows.length && sees(place, j) ? 1 : 0;
      const ends = { y1: y(Math.min(j, rows.length - 1), source), y2: y(place, source) };
      line.to({ ...ends, o }, { jump });
    });
    marker.to({ y: y(place, source), o: step >= LOOKS ? 1 : 0 }, { jump });
    answers.forEach((answer, word) => {
      const question = questions.find((asked) => asked.word === word);
      if (!question) {
        answer.to(unread, { jump });
        delete answer.number.dataset.value;
        return;
      }
      write(answer.number, question.loss);
      const long = (question.loss / most) * room;
      const there = { x: right, y: y(question.row, source), w: long, told: 1, o: 1 };
      const before = { x: right, y: there.y, w: 0, told: 0, o: 1 };
      answer.to(step === ASKED ? there : before, { jump });
    });
  }
  return { height: y(n + 4, 1) - 12, pose };
}

function render({ model, el }) {
  const data = model.get("data"),
    { words } = data,
    n = words.length;
  const state = connect(model);
  const now = remember((value) => {
    const made = task(data, value);
    return { ...made, place: Math.min(value.places[value.family], made.rows.length - 1) };
  });
  const texts = captions(words, now);
  const names = ["what is read", "what is seen", "what is asked"];
  const steps = stepper(state, {
    names: false,
    steps: names.map((name, i) => ({ name, caption: texts[i] })),
    others: FAMILIES.map((family) => ({ family })),
  });
  const picture = stage(state, "what is read, what is seen and what is asked", (root, width) =>
    build(root, width, data, now),
  );

  const shownIf = (isShown, attributes, ...parts) => {
    const box = element("div", { class: "cl-controls", ...attributes }, parts.flat());
    state.draw((value) => {
      box.hidden = !isShown(value);
    });
    return box;
  };
  const hides = shownIf(
    ({ family }) => family === ENCODER,
    { role: "group", "aria-label": "hidden words" },
    element("span", {}, "hide"),
    words.map((word, i) =>
      button(
        state,
        word,
        ({ hidden }) => ({ hidden: hidden.map((on, j) => (j === i ? !on : on)) }),
        {
          draw: (node, { hidden }) => {
            node.setAttribute("aria-pressed", hidden[i]);
            node.classList.toggle("cl-main", hidden[i]);
          },
        },
      ),
    ),
  );
  const gap = shownIf(
    ({ family }) => family === BOTH,
    {},
    slider(state, "start", "the gap begins with", {
      min: 1,
      max: n,
      describe: (start) => words[start - 1],
    }),
    slider(state, "size", "words in the gap", {
      min: 1,
      max: 3,
      describe: (size, { start }) => String(Math.min(size, n - start + 1)),
    }),
  );
  const places = choice(
    state,
    "place",
    "the position that is marked",
    (value) => now(value).rows.map((row, j) => [j, `${j + 1} ${row.name ?? words[row.word]}`]),
    {
      at: (value) => now(value).place, // each family has its own
      change: (place, { places, family }) => ({ places: { ...places, [family]: place } }),
    },
  );
  const looks = shownIf(({ step }) => step >= LOOKS, {}, places);

  const alone = ({ hidden }) => hidden.filter(Boolean).length === 1;
  const puzzles = goals(state, [
    {
      text: "Hide one word that the encoder finds easier than the decoder does.",
      reached: (value) => {
        if (value.family !== ENCODER || value.step < ASKED || !alone(value)) return false;
        const [{ word, loss }] = now(value).questions;
        return loss < data.decoder[word][0];
      },
    },
    {
      text: "Ask the encoder-decoder four questions.",
      reached: (value) =>
        value.family === BOTH && value.step === ASKED && now(value).questions.length === 4,
    },
  ]);
  const turns = element("div", { class: "cl-turns" }, [
    element("div", { class: "cl-stack" }, hides, gap),
    element("div", { class: "cl-stack" }, looks),
  ]);
  const led = element("div", { class: "cl-objectives" }, steps, turns);
  const families = tabs(state, "family", "the model", FAMILIES);
  frame(el, "One sentence, three objectives", families, picture, led, puzzles);
  return state.close;
}

export default { render };
