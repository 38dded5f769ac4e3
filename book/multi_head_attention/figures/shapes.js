// One layer's numbers on their way through its heads: (T, d), cut into h pieces, a map and an average
// for each, laid side by side again, mixed. A piece is the same block from the cut to the end.

import { cellRow } from "../../page/kit/cells.js";
import { connect } from "../../page/kit/controls.js";
import { drawing, fill, format, frame } from "../../page/kit/dom.js";
import { html } from "../../page/kit/html.js";
import { argmax, matmul, softmax, transpose } from "../../page/kit/numerics.js";
import { predict } from "../../page/kit/predict.js";
import { group, label, part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

const ROW = 26; // height of a row of numbers

/** Every matrix of the layer, by the name of its block; those of head i end in i. */
function compute({ x, query, key, value, output, num_heads: h }) {
  const dk = x[0].length / h,
    found = { x };
  const [q, k, v] = [query, key, value].map((matrix) => matmul(x, matrix));
  const piece = (matrix, i) => matrix.map((row) => row.slice(i * dk, (i + 1) * dk));
  for (let i = 0; i < h; i++) {
    found[`q${i}`] = piece(q, i);
    found[`k${i}`] = piece(k, i);
    found[`v${i}`] = piece(v, i);
    const scores = matmul(found[`q${i}`], transpose(found[`k${i}`]));
    found[`map${i}`] = scores.map((row) => softmax(row.map((score) => score / Math.sqrt(dk))));
    found[`head${i}`] = matmul(found[`map${i}`], found[`v${i}`]);
    found[`w${i}`] = output.slice(i * dk, (i + 1) * dk);
    found[`term${i}`] = matmul(found[`head${i}`], found[`w${i}`]);
  }
  const all = Array.from({ length: h }, (_, i) => found[`head${i}`]);
  found.mixed = matmul(
    x.map((_, t) => all.flatMap((head) => head[t])),
    output,
  );
  return found;
}

const KINDS = { q: "q", k: "k", v: "v", map: "attention", head: "v" }; // all others: the stream
const kindOf = (name) => KINDS[name.replace(/\d/, "")] ?? "stream";

/** Where everything is at each step: blocks {name: [x, y, opacity]}, texts [text, x, y, kind, class]. */
function layout({ words, x, num_heads: h }, { width, wide, cell, gutter, gap }) {
  const T = words.length,
    d = x[0].length,
    dk = d / h;
  const heads = Array.from({ length: h }, (_, i) => i);
  const top = 28,
    tall = T * ROW,
    lane = tall + 40; // a block, and the next heading
  const below = (j) => top + j * lane;
  const height = below(wide ? Math.max(2, h) : 4);
  const middle = wide ? (height - tall - 18) / 2 : top;
  const steps = Array.from({ length: 8 }, () => ({ blocks: {}, texts: [] }));
  const say = (step, ...text) => steps[step].texts.push(text);
  const title = (step, text, left, y, cells, kind) =>
    say(step, text, left + (cells * cell) / 2, y - 9, kind, "cl-own");
  const put = (step, name, left, y, text, cells) => {
    steps[step].blocks[name] = [left, y];
    if (text) title(step, text, left, y, cells, kindOf(name));
  };
  const sign = (step, text, left, y) =>
    say(step, text, left - gap / 2, y + tall / 2 + 5, "stream", "cl-strong");
  const names = (step, left, y) =>
    words.forEach((word, t) =>
      say(step, word, left - 8, y + t * ROW + 18, "stream", "cl-end cl-quiet"),
    );
  /** The left ends of blocks so many cells wide, side by side in the middle. */
  const inRow = (...cells) => {
    const free = width - gutter - cell * cells.reduce((a, b) => a + b) - gap * (cells.length - 1);
    const ends = [gutter + Math.max(0, free / 2)];
    cells.forEach((count, i) => ends.push(ends[i] + count * cell + gap));
    return ends;
  };
  const alone = inRow(d)[0],
    three = wide ? inRow(d, d, d) : [alone, alone, alone];

  put(0, "x", alone, middle, `X ${T} × ${d}`, d);
  names(0, alone, middle);
  put(1, "x", alone, top, `X ${T} × ${d}`, d);
  names(1, alone, top);
  ["q", "k", "v"].forEach((kind, j) => {
    const y = below(wide ? 1 : j + 1),
      name = kind.toUpperCase();
    title(1, `${name} = X W_${name} ${T} × ${d}`, three[j], y, d, kind);
    heads.forEach((i) => put(1, `${kind}${i}`, three[j] + i * dk * cell, y));
  });

  /** The same, right of X, which stays where there is room for it. */
  const beside = (...cells) => {
    if (!wide) return inRow(...cells);
    const ends = [gutter + d * cell + gutter + gap];
    cells.forEach((count, i) => ends.push(ends[i] + count * cell + gap));
    return ends;
  };
  for (const step of wide ? [2, 3, 4] : []) {
    steps[step].blocks.x = [gutter, middle, 0.55];
    title(step, `X ${T} × ${d}`, gutter, middle, d, "stream");
  }
  const cut = beside(dk, dk, dk),
    looks = beside(T, dk, dk);
  heads.forEach((i) => {
    const y = below(i);
    for (const step of [2, 3, 4]) {
      const left = step === 2 ? cut[0] : looks[0];
      say(step, `head ${i + 1}`, left - 8, y - 9, "stream", "cl-end cl-strong");
      names(step, left, y);
    }
    ["q", "k", "v"].forEach((kind, j) =>
      put(2, `${kind}${i}`, cut[j], y, `${kind.toUpperCase()}_${i + 1} ${T} × ${dk}`, dk),
    );
    for (const step of [3, 4]) {
      put(step, `map${i}`, looks[0], y, `A_${i + 1} ${T} × ${T}`, T);
      put(step, `v${i}`, looks[1], y, `V_${i + 1} ${T} × ${dk}`, dk);
    }
    put(4, `head${i}`, looks[2], y, `${T} × ${dk}`, dk);
    sign(4, "·", looks[1], y);
    sign(4, "=", looks[2], y);
    put(5, `head${i}`, alone + i * dk * cell, middle);
    put(6, `head${i}`, three[0] + i * dk * cell, middle);
  });

  for (const step of [5, 6]) {
    const left = step === 5 ? alone : three[0];
    title(step, `concat ${T} × ${d}`, left, middle, d, "v");
    names(step, left, middle);
  }
  const matrix = wide ? middle : below(1),
    result = wide ? middle : below(2) + (d - T) * ROW;
  title(6, `Wᴼ ${d} × ${d}`, three[1], matrix, d, "stream");
  heads.forEach((i) => put(6, `w${i}`, three[1], matrix + i * dk * ROW));
  put(6, "mixed", three[2], result, `output ${T} × ${d}`, d);
  if (wide) ["·", "="].forEach((text, j) => sign(6, text, three[j + 1], middle));
  else names(6, alone, result);

  const sum = inRow(dk, d, d, d);
  heads.forEach((i) => {
    const y = below(i),
      left = wide ? sum[2] : alone;
    put(7, `term${i}`, left, y, `head ${i + 1} adds ${T} × ${d}`, d);
    names(7, wide ? sum[0] : alone, y);
    if (!wide) return;
    put(7, `head${i}`, sum[0], y, `${T} × ${dk}`, dk);
    put(7, `w${i}`, sum[1], y + ((T - dk) * ROW) / 2, `rows of Wᴼ ${dk} × ${d}`, d);
    ["·", "="].forEach((text, j) => sign(7, text, sum[j + 1], y));
  });
  put(7, "mixed", wide ? sum[3] : alone, wide ? middle : below(h), `sum ${T} × ${d}`, d);
  if (wide) sign(7, "=", sum[3], middle);
  else names(7, alone, below(h));
  return { steps, height };
}

/** What is said at each step; a function where words have their concept's colour. */
function captions({ words, x, num_heads: h }, found) {
  const T = words.length,
    d = x[0].length,
    dk = d / h,
    asker = (T - 1) / 2;
  const looks = Array.from({ length: h }, (_, i) => {
    const row = found[`map${i}`][asker],
      most = argmax(row);
    return `head ${i + 1} gives ${format(row[most])} to “${words[most]}”`;
  });
  return [
    `${T} words with ${d} numbers each: a matrix of the shape (T, d) = (${T}, ${d}).`,
    () =>
      html`Three matrices make <b class="cl-q">queries</b>, <b class="cl-k">keys</b> and <b class="cl-v">values</b> for all heads at once. The shape is still (T, d).`,
    `Cut. The first ${dk} columns belong to head 1, the next ${dk} to head 2: (T, h, dₖ) = ` +
      `(${T}, ${h}, ${dk}). No number has changed.`,
    () =>
      html`Each head compares its own queries with its own keys, divides by √dₖ and takes the softmax: <b class="cl-attention">${h} maps</b> of ${T} × ${T}. At “${words[asker]}”, ${looks.join(", ")}.`,
    `Each map averages the values of its own head: ${T} × ${dk}. Up to here no head knows of ` +
      "another.",
    `Concatenate. The cut is closed again. The shape is (T, d) = (${T}, ${d}), as at the start.`,
    "Multiply by Wᴼ. The heads meet here for the first time. The output has the shape (T, d), " +
      "ready for the next layer.",
    `The same output as a sum. Head 1 meets only the first ${dk} rows of Wᴼ, head 2 only the ` +
      `next ${dk}.`,
  ];
}

function render({ model, el }) {
  const data = model.get("data");
  const { words, x, num_heads: h } = data;
  const found = compute(data);
  const state = connect(model);
  const maps = (count, size) => `${["one", "two"][count - 1] ?? count} ${size} × ${size}`;
  const right = maps(h, words.length),
    wrong = maps(h, x[0].length / h),
    MAPS = 3; // the step that answers the question

  const scene = stage(state, "The numbers of one layer, step by step", (root, width) => {
    const wide = width >= 560,
      gutter = wide ? 50 : 48,
      gap = wide ? 22 : 14;
    const [d, dk] = [x[0].length, x[0].length / h];
    const [cells, gaps] = wide ? [dk + 3 * d, 3] : [Math.max(d, words.length + 2 * dk), 2];
    const cell = Math.min(44, Math.floor((width - gutter - gaps * gap) / cells));
    const { steps, height } = layout(data, { width, wide, cell, gutter, gap });
    const blocks = Object.entries(found).map(([name, rows]) => {
      const kind = kindOf(name);
      const lines = rows.map((values, i) => {
        const { node } = cellRow(values, kind, { cell, height: ROW, most: 1.5 });
        return fill(node, { transform: `translate(0 ${i * ROW})` }, []);
      });
      return { name, block: part(root, drawing("g", { "data-name": name }, lines), { o: 0 }) };
    });
    const texts = steps.map(({ texts }) =>
      texts.map(([text, tx, ty, kind, name]) =>
        group(root, { o: 0 }, drawing("g", { class: `cl-${kind}` }, label(text, tx, ty, name))),
      ),
    );
    const pose = ({ step }, options) => {
      for (const { name, block } of blocks) {
        const at = steps[step].blocks[name];
        block.to(at ? { x: at[0], y: at[1], o: at[2] ?? 1 } : { o: 0 }, options);
      }
      texts.forEach((own, i) =>
        own.forEach((text) => text.to({ o: i === step ? 1 : 0 }, { ...options, ms: 250 })),
      );
    };
    return { height, pose };
  });

  const names = ["words", "project", "cut", "maps", "average", "concat", "mix", "sum"];
  const texts = captions(data, found);
  const judged = ({ maps: { guess, shown } }) =>
    shown && guess ? ` You said ${guess}: ${guess === right ? "right" : "not quite"}.` : "";
  const steps = names.map((name, i) => ({
    name,
    caption: i === MAPS ? (value) => [texts[i](), judged(value)] : texts[i],
    hold: ({ step, maps }) => step === MAPS - 1 && !maps.shown,
  }));
  const guess = predict(state, "maps", {
    question: "Which maps of weights come out when the heads compare?",
    choices: [maps(1, words.length), right, wrong],
    act: () => ({ step: MAPS }),
  });
  state.draw(({ step, maps: { shown } }) => {
    guess.style.visibility = step > MAPS && !shown ? "hidden" : ""; // answered, and its room stays
  });
  frame(
    el,
    "The shapes of a layer with heads",
    scene,
    stepper(state, { steps, others: [{ maps: { guess: wrong, shown: true } }] }),
    guess,
  );
  return state.close;
}

export default { render };
