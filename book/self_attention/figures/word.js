// Self-attention for one word, in eight steps: x, its query, the keys, their products, divided by √d_k,
// as weights, the values, and their sum. One bar is score, scaled score and weight in turn.

import { decimals, matrix, strip } from "../../page/kit/cells.js";
import { connect, remember } from "../../page/kit/controls.js";
import { css, drawing, fill, format, frame, write } from "../../page/kit/dom.js";
import { html } from "../../page/kit/html.js";
import { argmax, clamp, dot, matmul, softmax } from "../../page/kit/numerics.js";
import { arrow, tokenRow } from "../../page/kit/parts.js";
import { draggable, group, label, part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

css`
  .cl-share {
    fill: color-mix(in oklab, var(--tone) calc(25% + var(--w) * 75%), var(--ground));
    stroke: var(--ground);
  }
`;

/** What companion.nn.scaled_dot_product_attention computes for one query, and what comes before. */
function follow({ x, W_q, W_k, W_v }, asker) {
  const keys = matmul(x, W_k),
    values = matmul(x, W_v);
  const query = matmul([x[asker]], W_q)[0];
  const scores = keys.map((key) => dot(query, key));
  const scaled = scores.map((score) => score / Math.sqrt(query.length));
  const weights = softmax(scaled);
  const output = matmul([weights], values)[0];
  return { keys, values, query, scores, scaled, weights, output, best: argmax(scores) };
}

const shown = (number) => format(number, decimals(number));
const tuple = (row) => `(${row.map(shown).join(", ")})`;

/** What each step says: nodes, made anew for every caption. */
function captions({ words, x, W_q }, result) {
  const quoted = (i) => `“${words[i]}”`;
  const width = W_q[0].length;
  const picks = (row) => {
    const place = row.indexOf(1) + 1;
    const oneHot = place && row.filter((number) => number !== 0).length === 1;
    return oneHot ? ` Its only 1 is in place ${place}, so it picks row ${place}.` : "";
  };
  const raised = ({ word }) => result(word).scaled.reduce((sum, score) => sum + Math.exp(score), 0);
  const judged = ({ word, guess }) => {
    const { best, weights } = result(word);
    const words = `You guessed ${format(guess ?? 0)} for ${quoted(best)}; `;
    return guess === null ? "" : ` ${words}it gets ${format(weights[best])}.`;
  };
  return [
    ({ word }) =>
      `Each word comes with a vector x. We follow ${quoted(word)}; choose another word in the picture to follow that one.`,
    ({ word }) =>
      html`${quoted(word)} asks. Its <b class="cl-q">query q</b> = x W<sup>Q</sup> is what it looks for.${picks(x[word])}`,
    ({ word }) =>
      html`Every word, ${quoted(word)} included, has a <b class="cl-k">key k</b> = x W<sup>K</sup>: what it can be found by.`,
    ({ word }) =>
      html`The <b class="cl-q">query q</b> of ${quoted(word)} meets every key (copies are pale): multiply cell by cell, then add up. The dot products are ${result(word).scores.map(shown).join(", ")}.`,
    ({ word }) =>
      html`Divide by √${width} = ${shown(Math.sqrt(width))}, as the query is ${width} wide. Softmax will now share out a <b class="cl-attention">weight</b> of 1. Guess first: drag the mark to what ${quoted(result(word).best)} will get.`,
    (value) =>
      html`Softmax raises e to each score and divides by the sum, ${format(raised(value))}. Every word gets some <b class="cl-attention">weight</b>, and together they get 1.${judged(value)}`,
    () =>
      html`Every word also has a <b class="cl-v">value v</b> = x W<sup>V</sup>: what it hands out. An arrow is as thick as the <b class="cl-attention">weight</b>: this much of the value goes in.`,
    ({ word }) => {
      const { weights, values, output } = result(word);
      const sum = weights.map((w, i) => `${format(w)} · ${tuple(values[i])}`).join(" + ");
      return html`${sum} = ${tuple(output)}: the output for ${quoted(word)}, a weighted average of all <b class="cl-v">values</b>.`;
    },
  ];
}

const NAMES = ["words", "query", "keys", "compare", "scale", "softmax", "values", "sum"];
const [WORDS, QUERY, KEYS, COMPARE, SCALE, SOFTMAX, VALUES, SUM] = NAMES.keys();

/** Places near the wanted ones (in rising order), at least `room` apart, none beyond the ends. */
function spread(wanted, room, low, high) {
  const places = [];
  wanted.forEach((x, i) => places.push(Math.max(x, i ? places[i - 1] + room : low)));
  for (let i = places.length - 1, most = high; i >= 0; i--, most = places[i + 1] - room) {
    places[i] = Math.min(places[i], most);
  }
  return places;
}

/** Where everything is, for a width: a column per word, rows from x down to the output. */
function layout(width, words, d, dK, dV) {
  const wide = width >= 520;
  const left = wide ? 84 : 24,
    full = width - left - (wide ? 12 : 8), // what a weight of 1 is long
    column = full / words.length,
    gap = wide ? 34 : 15;
  const cell = Math.floor(
    Math.min(36, (column - 10) / Math.max(d, dK), (width - 2 * gap - 8) / (d + 2 * dK)),
  );
  const rows = wide
    ? { word: 2, x: 46, k: 106, q: 138, text: 184, bar: 190, unit: 232, v: 322, out: 390, end: 418 }
    : { word: 2, x: 42, k: 98, q: 124, text: 168, bar: 175, unit: 234, v: 336, out: 412, end: 438 };
  return {
    wide,
    left,
    full,
    column,
    gap,
    cell,
    height: wide ? 26 : 22,
    valueCell: Math.floor(Math.min(1.7 * cell, (column - 10) / dV)),
    rows,
    centres: words.map((_, i) => left + column * (i + 0.5)),
  };
}

function build(root, width, data, state, result) {
  const { words, x, W_q } = data;
  const { query, keys, values, output } = result(state.value.word);
  const [d, dK, dV] = [x[0].length, query.length, output.length];
  const at = layout(width, words, d, dK, dV);
  const { wide, left, full, column, gap, cell, height, valueCell, rows, centres } = at;
  const all = (make) => words.map((_, i) => make(i));
  const start = (i, n, size = cell) => centres[i] - (n * size) / 2;
  const inKind = (kind, ...nodes) => drawing("g", { class: `cl-${kind}` }, nodes);

  const lanes = [
    [WORDS, rows.word + 3, "words", "", null],
    [WORDS, rows.x, "vectors x", "x", null],
    [KEYS, rows.k, "keys K", "K", "k"],
    [KEYS, rows.q, "its query", "q", "q"],
    [COMPARE, rows.text - 15, "scores", "", null],
    [SCALE, rows.unit, "weights", "", "attention"],
    [VALUES, rows.v, "values V", "V", "v"],
    [SUM, rows.out, "output", "", "v"],
  ].map(([from, y, long, short, kind]) => {
    const look = kind ? "cl-own cl-strong" : "cl-quiet";
    const text = label(wide ? long : short, 0, y + height / 2 + 4.5, `cl-start ${look}`);
    return { from, ...group(root, {}, inKind(kind, text)) };
  });

  const feeds = all((i) => {
    const name = label("W^K", centres[i] + 20, (rows.x + height + rows.k) / 2 + 3, "cl-own");
    const line = { x1: centres[i], y1: rows.x + height + 3, x2: centres[i], y2: rows.k - 4 };
    return [arrow(root, "k", line), group(root, {}, inKind("k", name))];
  });
  const length = { x: left, y: rows.unit, width: full, height };
  const unit = group(root, {}, drawing("rect", { class: "cl-unit", ...length }));
  // a score, then the scaled score, then the weight: one bar all the while
  const bars = all(() => {
    const bar = drawing("rect", { class: "cl-share" });
    return part(root, inKind("attention", bar), { w: 0, h: 8 }, ({ w, h, share = 0 }) => {
      fill(bar, { width: Math.max(0, w), height: h }, []);
      bar.style.setProperty("--w", share);
    });
  });
  const products = all((i) => {
    const before = drawing("tspan"),
      number = drawing("tspan", { "data-name": "compared" });
    const text = drawing("text", {}, before, number);
    return { before, number, ...group(root, { x: centres[i], y: rows.text }, text) };
  });
  const names = words.map((word) => group(root, { o: 0 }, label(word, 0, 0, "cl-strong")));
  const weights = all(() => {
    const number = fill(label("", 0, 0, "cl-own cl-strong"), { "data-name": "weight" }, []);
    return { number, ...group(root, { o: 0 }, inKind("attention", number)) };
  });
  const pulls = all(() => arrow(root, "attention", { w: 0, o: 0 }, { bend: true }));
  const flows = all(() => arrow(root, "v", { w: 0, o: 0 }, { bend: true, head: false }));

  const tokens = tokenRow(root, words, centres, {
    y: rows.word,
    height: wide ? 34 : 28,
    name: "follow",
    pick: (word) => state.set({ word, guess: null }),
  });
  const size = { cell, height };
  const vectors = x.map((row, i) => {
    const first = { x: start(i, d), y: rows.x };
    return strip(root, row, "stream", { ...size, most: 1, name: "x", first });
  });
  const labels = keys.map((key) => strip(root, key, "k", { ...size, name: "k" }));
  const contents = values.map((value) =>
    strip(root, value, "v", { cell: valueCell, height, most: 10, name: "v" }),
  );
  const blend = strip(root, output, "v", {
    cell: valueCell,
    height,
    most: 10,
    name: "output",
    first: { x: left + full / 2 - (dV * valueCell) / 2, y: rows.out },
  });

  // x W^Q = q, where the keys will be
  const total = (d + 2 * dK) * cell + 2 * gap;
  const ex = Math.max(0, Math.min(left + (full - total) / 2, (width - total) / 2));
  const ey = (rows.x + height + rows.unit) / 2 + 4;
  const times = ex + d * cell + gap,
    equals = times + dK * cell + gap;
  const copy = strip(root, x[0], "stream", { ...size, most: 1 });
  const matrixQ = matrix(root, W_q, "q", {
    ...size,
    title: "W^Q",
    first: { x: times, y: ey - (d * height) / 2 },
  });
  const signs = group(
    root,
    {},
    label("×", times - gap / 2, ey + 5),
    label("=", equals - gap / 2, ey + 5),
    label("x", ex + (d * cell) / 2, ey - height / 2 - 9, "cl-quiet"),
    inKind("q", label("q", equals + (dK * cell) / 2, ey - height / 2 - 9, "cl-own")),
  );
  const queries = all(() => strip(root, query, "q", { ...size, name: "q" }));

  // the guess: a mark to drag, then a bracket over what came out
  const tag = label("", 0, -14, "cl-strong");
  const handle = drawing(
    "g",
    {},
    drawing("rect", { class: "cl-hit", x: -22, y: -10, width: 44, height: height + 20 }),
    drawing("path", { class: "cl-line", d: `M0 -8V${height + 8}` }),
    drawing("circle", { class: "cl-ring cl-knob", cy: height / 2, r: 9 }),
    tag,
  );
  const guessAt = (share) => state.set({ guess: Number(clamp(share, 0, 1).toFixed(2)) });
  const drag = draggable(root, handle, {
    name: "your guess",
    move: (mx) => guessAt((mx - left) / full),
    nudge: (dx, dy) => guessAt((state.value.guess ?? 0.5) + (dx + dy) / 100),
  });
  fill(handle, { "aria-valuemin": 0, "aria-valuemax": 1 }, []);
  const knob = part(root, handle, { y: rows.unit, o: 0 });
  const bracket = drawing("path", { class: "cl-line" }),
    remark = label("", 0, -5);
  const guessed = part(root, drawing("g", {}, bracket, remark), { long: 0, o: 0 }, ({ long }) =>
    bracket.setAttribute("d", `M0.5 6V0.5H${long - 0.5}V6`),
  );

  function pose({ step, word, guess }, { jump }) {
    const now = result(word);
    const go = (thing, goal, delay = 0) => thing.to(goal, { jump, delay });
    const seen = (first, last = SUM) => (step >= first && step <= last ? 1 : 0);
    const before = (i) => now.weights.slice(0, i).reduce((sum, share) => sum + share, 0);

    // where there is room, the names of what is to come wait for it
    const waits = wide && step !== QUERY ? 0.5 : 0;
    lanes.forEach((lane) => go(lane, { o: seen(lane.from) || waits }));
    tokens.press(word);
    tokens.forEach((token, i) => go(token, { o: step === QUERY && i !== word ? 0.5 : 1 }));
    vectors.forEach((vector, i) => go(vector, { o: step === QUERY && i !== word ? 0.5 : 1 }));

    copy.set(x[word]);
    matrixQ.light(x[word].filter((number) => number).length === 1 ? argmax(x[word]) : null);
    const lifted = { x: ex, y: ey - height / 2, o: 1 };
    go(copy, step === QUERY ? lifted : { x: start(word, d), y: rows.x, o: 0 });
    go(matrixQ, { o: seen(QUERY, QUERY) }, step === QUERY ? 250 : 0);
    go(signs, { o: seen(QUERY, QUERY) }, step === QUERY ? 400 : 0);

    // the guess
    const { best } = now;
    const share = guess ?? 0.5;
    tag.textContent = guess === null ? `how much for ${words[best]}?` : format(share);
    const half = tag.textContent.length * 3.8,
      mark = left + share * full;
    tag.setAttribute("x", clamp(0, left + half - mark, left + full - half - mark));
    drag.say(`${format(share)} for ${words[best]}`, share);
    knob.to({ x: mark }, { jump: true });
    go(knob, { o: seen(SCALE, SCALE) });
    remark.textContent = `your guess ${format(share)}`;
    remark.setAttribute("x", (share * full) / 2);
    const from = Math.min(left + before(best) * full, left + (1 - share) * full);
    const over = step === SOFTMAX && guess !== null;
    go(guessed, { x: over ? from : left, y: rows.unit - 24, long: share * full, o: over ? 1 : 0 });

    // products and weights
    const negative = now.scores.some((score) => score < 0);
    const most = Math.max(...now.scores.map(Math.abs)) || 1;
    const scale = ((column - 24) * (negative ? 0.5 : 1)) / most;
    const [text, numbers] =
      step < SCALE
        ? ["q · k = ", now.scores]
        : step === SCALE
          ? ["q · k / √dₖ = ", now.scaled]
          : ["", now.scaled.map(Math.exp)];
    const middles = now.weights.map((share, i) => left + (before(i) + share / 2) * full);
    const nameRoom = Math.max(...words.map((name) => name.length)) * 7.6 + 4;
    const nameAt = spread(middles, nameRoom, left + nameRoom / 2, left + full - nameRoom / 2);
    const numberAt = spread(middles, 36, left + 16, left + full - 16);
    const thick = wide ? 26 : 18; // of a weight of 1
    words.forEach((_, i) => {
      const wait = 120 * i;
      const delay = (at, more = 0) => (step === at ? more + wait : 0);
      const hung = { x: start(i, dK), y: seen(KEYS) ? rows.k : rows.x, o: seen(KEYS) };
      go(labels[i], hung, delay(KEYS));
      feeds[i].forEach((piece) => go(piece, { o: seen(KEYS) }, delay(KEYS, 200)));

      queries[i].set(now.query);
      const own = i === word;
      const under = start(step >= COMPARE ? i : word, dK);
      const place = step <= QUERY ? { x: equals, y: ey - height / 2 } : { x: under, y: rows.q };
      const there = step >= COMPARE || (own && step >= QUERY);
      go(
        queries[i],
        { ...place, o: there ? (own ? 1 : 0.5) : 0 },
        step === QUERY ? 550 : delay(COMPARE),
      );

      products[i].before.textContent = step < SOFTMAX ? text : `exp(${shown(now.scaled[i])}) = `;
      write(products[i].number, numbers[i], decimals(numbers[i]));
      go(products[i], { o: seen(COMPARE) }, delay(COMPARE, 300));
      const score = (step < SCALE ? now.scores : now.scaled)[i] * scale;
      const zero = left + i * column + 12 + (negative ? (column - 24) / 2 : 0);
      go(
        bars[i],
        step < SOFTMAX
          ? { x: zero + Math.min(0, score), y: rows.bar, w: Math.max(2, Math.abs(score)), h: 8 }
          : { x: left + before(i) * full, y: rows.unit, w: now.weights[i] * full, h: height },
        delay(COMPARE, 300) || delay(SOFTMAX),
      );
      go(bars[i], { o: seen(COMPARE), share: step < SOFTMAX ? 0.5 : now.weights[i] });
      go(names[i], { x: nameAt[i], y: rows.unit - 6, o: seen(SOFTMAX) }, delay(SOFTMAX, 300));
      write(weights[i].number, now.weights[i]);
      const below = rows.unit + height + 16;
      go(weights[i], { x: numberAt[i], y: below, o: seen(SOFTMAX) }, delay(SOFTMAX, 300));

      // values in, their sum out
      const [x1, y1] = [numberAt[i], below + 7];
      const w = now.weights[i] * thick;
      const rests = step < VALUES,
        low = rows.v - 4;
      const card = { x: start(i, dV, valueCell), y: rests ? rows.x : rows.v, o: seen(VALUES) };
      go(contents[i], card, delay(VALUES));
      const pull = rests ? { x2: x1, y2: y1 + 9, o: 0 } : { x2: centres[i], y2: low, o: 1 };
      go(pulls[i], { x1, y1, w, ...pull }, delay(VALUES, 250));
      const foot = left + full / 2 + thick * (before(i) + now.weights[i] / 2 - 0.5);
      const [fx, fy] = [centres[i], rows.v + height + 2];
      const flow = seen(SUM) ? { x2: foot, y2: rows.out, o: 0.75 } : { x2: fx, y2: fy + 2, o: 0 };
      go(flows[i], { x1: fx, y1: fy, w, ...flow }, delay(SUM));
    });
    go(unit, { o: seen(SCALE) });
    blend.set(now.output);
    go(blend, { o: seen(SUM) }, step === SUM ? 400 : 0);
  }
  return { height: rows.end, pose };
}

function render({ model, el }) {
  const data = model.get("data"),
    { words } = data;
  const state = connect(model);
  const result = remember((word) => follow(data, word));
  const texts = captions(data, result);
  const steps = stepper(state, {
    steps: NAMES.map((name, step) => ({
      name,
      caption: texts[step],
      hold: ({ guess }) => step === SCALE && guess === null,
    })),
  });
  const picture = stage(state, "Self-attention for one word", (root, width) =>
    build(root, width, data, state, result),
  );
  frame(el, `Self-attention, for one of ${words.length} words`, picture, steps);
  return state.close;
}

export default { render };
