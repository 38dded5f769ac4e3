// One word's vector on its way through a block: the stream goes straight up, sub-layers are side roads.

import { strip } from "../../page/kit/cells.js";
import { connect, remember, tabs } from "../../page/kit/controls.js";
import { drawing, element, format, frame, steady, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { html } from "../../page/kit/html.js";
import { feedForward, multiHead, norms } from "../../page/kit/networks.js";
import { add, clamp, meanOf, norm } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";
import { arrow, tokenRow } from "../../page/kit/parts.js";
import { group, label, part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

const ATTENTION = { self_attention: "self-attention", cross_attention: "cross-attention" };
const SUB_LAYERS = {
  encoder: ["self_attention", "feed_forward"],
  decoder: ["self_attention", "cross_attention", "feed_forward"],
};
const TALL = { self_attention: 150, cross_attention: 150, feed_forward: 110 };
const FOOT = 76; // from the lowest sub-layer to below the words

/** What the words meet in a block, in order: [{ kind, part, layer, stream, side, weights }]. `kind` is
    "enter", "norm", "find" or "add"; `side` is what is on the side road, if anything is. */
function passage({ weights, numHeads }, block, normFirst, rows, memory) {
  const { before, after } = norms(weights, block, normFirst);
  const stops = [{ kind: "enter", layer: 0, stream: rows }];
  let x = rows;
  SUB_LAYERS[block].forEach((part, layer) => {
    const stop = (kind, stream, more) => stops.push({ kind, part, layer, stream, ...more });
    const read = before(layer + 1, x);
    if (normFirst) stop("norm", x, { side: read });
    const own = part !== "cross_attention";
    const allowed = (i, j) => block === "encoder" || !own || j <= i;
    const found = ATTENTION[part]
      ? multiHead(weights, `${block}.${part}`, read, own ? read : memory, numHeads, { allowed })
      : { output: feedForward(weights, `${block}.${part}`, read) };
    stop("find", x, { side: found.output, weights: found.weights && meanOf(found.weights) });
    x = add(x, found.output);
    stop("add", x, { found: found.output });
    x = after(layer + 1, x);
    if (!normFirst) stop("norm", x);
  });
  return stops;
}

const stopName = ({ kind, part }) =>
  ({ enter: "enter", norm: "norm", find: ATTENTION[part] ?? "FFN", add: "add" })[kind];

/** Where the sub-layers' places are, each counted from the bottom up. */
function plan(block, width) {
  const cell = clamp(width / 9.4, 36, 46), // beside each other, and wide enough for −0.07
    box = 4 * cell + 12;
  const tall = (parts) => parts.reduce((sum, part) => sum + TALL[part], FOOT + 10);
  const height = Math.max(...Object.values(SUB_LAYERS).map(tall)); // the words stay where they are
  const spare = (height - tall(SUB_LAYERS[block])) / SUB_LAYERS[block].length;
  let base = height - FOOT;
  const slots = SUB_LAYERS[block].map((part) => {
    const find = base - (ATTENTION[part] ? 92 : 54);
    const slot = { part, base, read: base - 18, words: base - 62, find, join: find - 25 };
    base -= TALL[part] + spare;
    return { ...slot, after: slot.join - 30 };
  });
  const left = Math.max(box / 2 + 1, 0.25 * width),
    right = Math.min(width - box / 2 - 1, 0.75 * width);
  return { cell, box, half: 2 * cell, left, right, height, slots, top: base };
}

const inStream = (name, attributes, ...more) =>
  drawing("g", { class: "cl-stream" }, drawing(name, attributes), ...more);

/** The roads and what moves on them, for a width, a block and an order. */
function build(root, width, { block, order }, { words, readers, follow }) {
  const place = plan(block, width),
    { cell, box, half, left, right, height, top } = place;
  const road = (d, size, opacity) =>
    root.append(inStream("path", { class: "cl-shaft", d, "stroke-width": size, opacity }));
  const frameAt = (text, x, y) => {
    const size = { x: -box / 2, y: -16, width: box, height: 32, rx: 7 };
    const edge = { class: "cl-edge", "stroke-dasharray": "4 3", ...size };
    const paper = drawing("rect", { class: "cl-paper", ...size }); // the road passes behind
    group(root, { x, y }, inStream("rect", edge, paper, drawing("rect", edge)));
    return () => group(root, { x, y }, label(text, box / 2 - 4, -14, "cl-end cl-quiet cl-over"));
  };
  arrow(root, "stream", { x1: left, y1: height - 34, x2: left, y2: top - 4, w: 14, o: 0.3 });
  const empty = Array(4).fill(0),
    look = { cell, height: 24, most: 3 };
  const slots = place.slots.map((slot) => {
    const { part: name, base, read, find, join, after } = slot;
    const turn = `H${right - 16}q16 0 16 -16V${join + 16}q0 -16 -16 -16H${left}`;
    road(`M${left} ${base}${turn}`, 3, 0.4);
    const names = [
      frameAt(ATTENTION[name] ?? "feed-forward", right, find),
      order === "pre" ? frameAt("norm", right, read) : frameAt("norm", left, after),
    ];
    const cross = drawing("path", { class: "cl-shaft", d: "M-5 0H5M0-5V5", "stroke-width": 2 });
    const ring = drawing("circle", { class: "cl-edge", r: 9 });
    group(
      root,
      { x: left + half + 14, y: join },
      inStream("circle", { class: "cl-paper", r: 9 }, ring, cross),
    );
    // what was in the boxes stays there, paler
    const ghosts = ["norm", "find"].map(() =>
      strip(root, empty, "stream", { ...look, name: "kept" }),
    );
    ghosts.forEach((ghost) => ghost.to({ o: 0 }, { jump: true }));
    const shown = { ...slot, ghosts, names };
    if (!ATTENTION[name]) return shown;
    const gap = Math.min(62, (box + 12) / 3);
    const centres = readers(name).map((_, i) => right + (i - 1) * gap);
    const chips = tokenRow(root, readers(name), centres, { y: slot.words, height: 20 });
    const ends = (x) => ({ x1: x, y1: slot.words - 1, x2: x, y2: find + 17, o: 0 });
    return { ...shown, chips, arrows: centres.map((x) => arrow(root, "attention", ends(x))) };
  });
  const centres = words.map((_, i) => left + (i - 1) * Math.min(92, left - 32));
  const tokens = tokenRow(root, words, centres, { y: height - 30, pick: follow, name: "follow" });
  const side = strip(root, empty, "stream", { ...look, name: "side", first: { o: 0 } });
  const stream = strip(root, empty, "stream", { ...look, name: "stream" });
  const length = drawing("tspan", { "data-name": "length" });
  const tag = part(root, drawing("text", { class: "cl-strong cl-over" }, "length ", length));
  slots.forEach(({ names }) => names.forEach((name) => name())); // over the roads and what moves
  return { ...place, slots, tokens, side, stream, length, tag };
}

/** Everything at its place for one stop of the word that is followed. */
function stand(scene, stops, { step, word }, move) {
  const { slots, tokens, side, stream, length, tag, left, right, half } = scene;
  const stop = stops[step],
    { kind, layer } = stop,
    slot = slots[layer];
  const up = kind === "add" ? slot.join : kind === "norm" && !stop.side ? slot.after : slot.base;
  stream.set(stop.stream[word]);
  stream.to({ x: left - half, y: up - 12 }, move);
  write(length, norm(stop.stream[word]));
  tag.to({ x: left, y: up + 26 }, move);
  if (stop.side) {
    side.set(stop.side[word]);
    side.to({ x: right - half, y: (kind === "norm" ? slot.read : slot.find) - 12, o: 1 }, move);
  } else side.to({ x: left - half, y: up - 12, o: 0 }, move);
  slots.forEach(({ ghosts, read, find }, i) =>
    ["norm", "find"].forEach((kind, j) => {
      const had = stops
        .slice(0, step)
        .find((one) => one.layer === i && one.kind === kind && one.side);
      if (had) ghosts[j].set(had.side[word]);
      const y = (kind === "norm" ? read : find) - 12;
      ghosts[j].to({ x: right - half, y, o: had ? 0.5 : 0 }, move);
    }),
  );
  tokens.press(word);
  slots.forEach(({ arrows = [], chips }, i) =>
    arrows.forEach((line, j) => {
      const weight = i === layer && stop.weights ? stop.weights[word][j] : 0;
      line.to({ w: 1 + 11 * weight, o: weight > 0 ? 1 : 0 }, move);
      chips[j].to({ o: i === layer && stop.weights && weight === 0 ? 0.35 : 1 }, move);
    }),
  );
}

/** What a stop does, in words; `before` is the stop before it. */
function caption(stop, before, { block, word }, words, readers) {
  const size = (rows) => format(norm(rows[word]));
  const said = `“${words[word]}”`;
  if (stop.kind === "enter")
    return html`${said} enters as four numbers of length ${size(stop.stream)}. The <b class="cl-stream">stream</b> carries them up.`;
  if (stop.kind === "norm" && stop.side)
    return html`A copy leaves the <b class="cl-stream">stream</b> and is normalised: its length is now ${size(stop.side)}. The stream itself is untouched.`;
  if (stop.kind === "norm")
    return html`The sum itself is normalised. The <b class="cl-stream">stream</b> had length ${size(before.stream)} and leaves with ${size(stop.stream)}.`;
  if (stop.kind === "add") {
    const [was, found, sum] = [before.stream, stop.found, stop.stream].map((rows) => rows[word][0]);
    const added = found < 0 ? `(${format(found)})` : format(found);
    const first = write(element("b", { "data-name": "sum" }), sum);
    const came = write(element("span"), norm(before.stream[word]));
    return html`What was found is added to the <b class="cl-stream">stream</b>; nothing is overwritten. Its first number: ${format(was)} + ${added} = ${first}. Its length goes from ${came} to ${size(stop.stream)}.`;
  }
  if (!stop.weights)
    return `The feed-forward network sees ${said} alone. What it finds has length ${size(stop.side)}.`;
  const read = readers(stop.part).map((other, j) => {
    const share = write(element("span", { "data-name": "weight" }), stop.weights[word][j]);
    return html`${j ? ", " : ""}${other} ${share}`;
  });
  const whom =
    stop.part === "cross_attention"
      ? "the memory, which is the encoder’s output"
      : block === "decoder"
        ? "itself and the words before it"
        : "all words";
  return html`${said} reads ${whom} (<b class="cl-attention">weights</b>, mean of the heads): ${read}. What it finds has length ${size(stop.side)}.`;
}

function render({ model, el }) {
  const data = withWeights(model.get("data")),
    { words } = data;
  data.numHeads = data.num_heads;
  const state = connect(model);
  const pass = remember(({ block, order }) => {
    const first = order === "pre";
    const encoded = passage(data, "encoder", first, data.x.encoder);
    if (block === "encoder") return encoded;
    return passage(data, "decoder", first, data.x.decoder, encoded.at(-1).stream);
  });
  const stops = ({ block, order }) => pass({ block, order });
  const readersOf = (block) => (part) => words[part === "cross_attention" ? "encoder" : block];

  const picture = stage(
    state,
    "The block",
    (root, width, value) => {
      const { block } = value;
      const scene = build(root, width, value, {
        words: words[block],
        readers: readersOf(block),
        follow: (word) => state.set({ word }),
      });
      const pose = (now, move) => stand(scene, stops(now), now, move);
      return { height: scene.height, pose };
    },
    { key: ({ block, order }) => block + order },
  );

  // a stepper for each of the four; it hears of changes while it is the one that is shown
  const steps = element("div");
  const steppers = {};
  for (const block of ["encoder", "decoder"])
    for (const order of ["pre", "post"]) {
      const shown = (value) => value.block === block && value.order === order;
      const draw = (...all) =>
        state.draw(...all.map((one) => (value) => shown(value) && one(value)));
      steppers[block + order] = stepper(Object.assign(Object.create(state), { draw }), {
        beside: true,
        others: [{ block, order }],
        steps: stops({ block, order }).map((stop, i) => ({
          name: stopName(stop),
          caption: (value) =>
            caption(stop, stops({ block, order })[i - 1], value, words[block], readersOf(block)),
        })),
      });
    }
  const four = ["encoder", "decoder"].flatMap((block) =>
    ["pre", "post"].map((order) => ({ block, order })),
  );
  steady(state, steps, four, ({ block, order }) => steps.replaceChildren(steppers[block + order]));

  const anew = Object.assign(Object.create(state), {
    set: (changes) => state.set({ ...changes, step: 0 }),
  });
  const last = (value) => value.step === stops(value).length - 1;
  const puzzles = goals(state, [
    {
      text: "Go to where every word leaves the block with the same length.",
      reached: (value) => value.order === "post" && last(value),
    },
    {
      text: "Find the step at which “suis” reads the source sentence.",
      reached: (value) =>
        value.word === 1 &&
        stops(value)[value.step].part === "cross_attention" &&
        stops(value)[value.step].kind === "find",
    },
  ]);
  frame(
    el,
    "One word’s way through a block",
    element(
      "div",
      { class: "cl-controls" },
      tabs(anew, "block", "block", [
        ["encoder", "encoder"],
        ["decoder", "decoder"],
      ]),
      tabs(state, "order", "norm", [
        ["pre", "before (pre-norm)"],
        ["post", "after (post-norm)"],
      ]),
    ),
    element(
      "div",
      { class: "cl-side" },
      element("div", { style: "flex: 1 1 21rem; min-width: 0" }, picture),
      element("div", { style: "flex: 1 1 15rem; min-width: 0" }, steps, puzzles),
    ),
  );
  return state.close;
}

export default { render };
