// The whole model as one scene: rows are words, columns are stages. The encoder reads the sentence in the
// upper lane, its memory hangs above the cross-attention, the decoder writes in the lower lane. Every
// number is the trained model's; every stage is a link to its chapter, where the page has any.

import STAGES from "../model.json" with { type: "json" };
import { button, choice, connect, remember, slider, tabs } from "../kit/controls.js";
import { announce, css, drawing, element, fill, format, frame } from "../kit/dom.js";
import { goals } from "../kit/goals.js";
import { html } from "../kit/html.js";
import { argmax, clamp, descending, meanOf, norm } from "../kit/numerics.js";
import { withWeights } from "../kit/packed.js";
import {
  knownWords,
  textInput,
  untranslatable,
  withKnownWords,
  wordsOf,
} from "../kit/sentences.js";
import { sinusoid } from "../kit/sinusoids.js";
import { embedTokens, greedyTranslation } from "../kit/transformer.js";

css`
  /* The whole model (translator.js): links are stages, what moves is drawn over them. */
  .cl-whole {
    position: relative;
    margin: 1.2rem 0 0.4rem;
    container-type: inline-size;
    svg {
      margin-inline: auto;
    }
    .cl-middle {
      text-anchor: middle;
    }
    .cl-end {
      text-anchor: end;
    }
    .cl-small {
      font-size: 12px;
    }
    .cl-panel {
      fill: color-mix(in oklab, var(--ink) 4%, var(--ground));
      stroke: transparent;
    }
    .cl-frame {
      fill: none;
      stroke: var(--line);
      stroke-dasharray: 5 4;
    }
    .cl-backing {
      fill: var(--ground);
    }
    .cl-hit {
      fill: transparent;
    }
    .cl-loop {
      fill: none;
      stroke: var(--quiet);
      stroke-width: 1.5;
      stroke-dasharray: 2 4;
    }
    .cl-tipped {
      fill: none;
      stroke: var(--quiet);
      stroke-width: 1.5;
    }
    .cl-door {
      text-decoration: none;
      text {
        fill: var(--quiet);
      }
      &:focus-visible {
        outline: none;
      }
      &:is(:hover, :focus-visible, .cl-open) {
        text {
          fill: var(--ink);
        }
        .cl-panel,
        .cl-frame,
        .cl-loop,
        .cl-tipped {
          stroke: var(--ink);
          stroke-width: 1.5;
        }
      }
      &:focus-visible :is(.cl-panel, .cl-frame, .cl-loop) {
        stroke: var(--first);
        stroke-width: 3;
      }
    }
    a.cl-door {
      cursor: pointer;
      &:is(:hover, :focus-visible) text {
        text-decoration: underline;
      }
    }
    .cl-moving {
      pointer-events: none;
      text {
        fill: var(--quiet);
      }
      text.cl-now {
        fill: var(--ink);
        font-weight: 600;
      }
    }
    .cl-rail {
      fill: none;
      stroke: var(--stream);
      stroke-width: 2;
      &.cl-now {
        stroke: var(--ink);
      }
    }
    .cl-chip {
      fill: var(--ground);
      stroke: var(--line);
      &.cl-now {
        stroke: var(--ink);
        stroke-width: 1.5;
      }
    }
    .cl-number-cell {
      fill: var(--ink);
    }
    .cl-position-cells .cl-number-cell {
      fill: var(--position);
    }
    .cl-look {
      fill: none;
      stroke: var(--attention);
      opacity: 0.2;
      &.cl-now {
        opacity: 1;
      }
    }
    .cl-query {
      fill: var(--q);
    }
    .cl-key {
      fill: var(--k);
    }
    .cl-value {
      fill: var(--v);
    }
    .cl-faint {
      opacity: 0.3;
    }
    &.cl-touring .cl-open :is(.cl-panel, .cl-frame) {
      stroke: var(--first);
      stroke-width: 2.5;
    }
    .cl-shade {
      fill: var(--stream);
    }
    .cl-edge6 {
      fill: none;
      stroke: var(--stream);
      stroke-width: 1.2;
      &.cl-now {
        stroke: var(--ink);
        stroke-width: 1.5;
      }
    }
    .cl-track {
      fill: var(--line);
      opacity: 0.6;
    }
    .cl-bar6 {
      fill: var(--quiet);
      &.cl-now {
        fill: var(--ink);
      }
    }
  }
  .cl-about {
    border-left: 3px solid var(--line);
    margin-top: 1rem;
    min-height: 6.6rem;
    padding: 0 0 0 1rem;
    font-size: 0.88rem;
    b {
      font-weight: 600;
    }
    p {
      margin: 0.3rem 0 0;
    }
    button {
      margin-bottom: 0.4rem;
    }
    .cl-touring & {
      min-height: 11rem;
    }
    > div > b {
      font-size: 1rem;
    }
  }
  .cl-wide-scene .cl-about {
    position: absolute;
    right: 0;
    top: 0;
    width: 30%;
  }
  .cl-said {
    display: flex;
    flex-wrap: wrap;
    gap: 0.2rem 0.7rem;
    font-size: 1.35rem;
    list-style: none;
    margin: 0.4rem 0 0.8rem;
    min-height: 2.2rem;
    padding: 0;
  }
  &.cl-translator {
    max-width: none;
    padding: 0;
    border: 0;
    .cl-tabs {
      gap: 0.4rem;
      margin-bottom: 0.5rem;
    }
    .cl-tabs label {
      border-radius: 99px;
      margin: 0;
      font-size: 0.88rem;
    }
  }
`;

const LINE = 24; // a row for each word
const SEEN = 0.02; // smaller weights are not drawn
const CELLS = 6; // of a vector's numbers
const PICKS = 4; // sentences to choose from; others can be written

const ofEach = (kind) =>
  Object.fromEntries(Object.entries(STAGES).map(([stage, known]) => [stage, known[kind]]));

// Panels are a stage's columns, [left, width]; the narrow drawing has the next word below the lanes.
const WIDE = {
  panels: ofEach("wide"),
  frames: { block: [257, 268], block2: [257, 532] },
  chip: [8, 96],
  strip: [110, 9],
  place: [189, 9],
  kept: [612, 6],
  trunk: 672,
  labels: ofEach("wide_label"),
};
const NARROW = {
  panels: ofEach("narrow"),
  frames: { block: [101, 109], block2: [101, 252] },
  chip: [1, 70],
  strip: null,
  place: [78, 3],
  kept: null,
  trunk: 299,
  labels: ofEach("narrow_label"),
};

/** Where everything stands in a drawing of this width, with so many rows in its lanes. */
function layout(width, rows) {
  const wide = width >= 900;
  const chosen = wide ? WIDE : NARROW;
  const scale = wide ? width / 1000 : Math.min(width, 480) / 358;
  const sized = (box) => box && box.map((x) => x * scale);
  const all = (boxes) =>
    Object.fromEntries(Object.entries(boxes).map(([name, box]) => [name, sized(box)]));
  const height = rows.map((count) => Math.max(count, 8) * LINE + 8);
  const tops = [44, 44 + height[0] + 78];
  const end = tops[1] + height[1];
  return {
    wide,
    labels: chosen.labels,
    panels: all(chosen.panels),
    frames: all(chosen.frames),
    chip: sized(chosen.chip),
    strip: sized(chosen.strip),
    place: sized(chosen.place),
    kept: sized(chosen.kept),
    trunk: chosen.trunk * scale,
    width: wide ? width : Math.min(width, 480),
    tops,
    heights: height,
    end,
    out: wide ? tops[1] : end + 60,
    height: wide ? end + 60 : end + 156,
  };
}

const isSecond = (id) => ["written", "place2", "masked", "cross", "ffn2", "out"].includes(id);
const box = (x, y, width, height, name, rx = 6, more = {}) =>
  drawing("rect", { x, y, width, height, rx, class: name, ...more });
const line = (d, name, more = {}) => drawing("path", { d, class: name, ...more });
const words = (x, y, text, name = "", more = {}) =>
  drawing("text", { x, y, class: name, ...more }, text);

/** What stays while the reader steps: panels with their names. `door(id, ...parts)` makes links of them. */
function still(g, numLayers, door) {
  const panel = (id) => {
    const [x, w] = g.panels[id],
      lane = Number(isSecond(id));
    const outBelow = id === "out" && !g.wide;
    const y = outBelow ? g.out - 8 : g.tops[lane] - 8;
    const height = outBelow ? 92 : g.heights[lane] + 16;
    const middle = x + w / 2 - (id === "cross" ? 12 : 0);
    return door(
      id,
      box(x, y, w, height, "cl-panel"),
      g.labels[id] && words(middle, y - 8, g.labels[id], "cl-middle"),
    );
  };
  const frame = (id, lane) => {
    const [x, w] = g.frames[id],
      y = g.tops[lane] - 34,
      height = g.heights[lane] + 58;
    return door(
      id,
      box(x, y, w, height, "cl-frame", 10),
      box(x + w / 2 - 50, y + height - 10, 100, 20, "cl-backing"),
      words(x + w / 2, y + height + 4, `block, ${numLayers} times`, "cl-middle"),
    );
  };
  const [x, w] = g.panels.out;
  const back = g.wide
    ? [
        line(`M${x + w / 2} ${g.end + 10}V${g.end + 44}H56V${g.end + 17}`, "cl-loop"),
        line(`M51 ${g.end + 22}l5-7l5 7`, "cl-tipped"),
        box(96, g.end + 32, 144, 22, "cl-backing"),
        words(168, g.end + 48, "one word at a time", "cl-middle"),
      ]
    : [
        line(`M30 ${g.out - 10}V${g.end + 16}`, "cl-loop"),
        line(`M25 ${g.end + 21}l5-7l5 7`, "cl-tipped"),
        box(20, g.end + 18, 150, 30, "cl-hit"),
        words(40, g.end + 46, "one word at a time"),
      ];
  return [
    ...["words", "place"].map(panel),
    frame("block", 0),
    ...["self", "ffn", "memory", "written", "place2"].map(panel),
    frame("block2", 1),
    ...["masked", "cross", "ffn2", "out"].map(panel),
    door("loop", ...back),
  ];
}

/** What moves: the words, their vectors, the weights, the memory's bus and the next word. */
function moving(g, { data, result, step, block }) {
  const { panels } = g;
  const encoder = result.encoded[block],
    decoder = result.decoded[block];
  const row = step - 1;
  const cross = step ? meanOf(decoder.crossWeights)[row] : null;
  const most = cross ? argmax(cross) : -1;
  const at = (lane) => (i) => g.tops[lane] + LINE / 2 + 4 + i * LINE;
  const [high, low] = [at(0), at(1)];
  const parts = [];
  const put = (...nodes) => parts.push(...nodes.flat().filter(Boolean));

  const cells = ([x, w], y, vector, name, kind = "stream") => {
    const shown = Array.from(vector.slice(0, CELLS));
    const largest = Math.max(...shown.map(Math.abs));
    return drawing(
      "g",
      { "data-name": name, class: `cl-${kind}-cells` },
      shown.map((value, i) =>
        box(x + i * w, y - 6, w - (w > 4 ? 1 : 0), 12, "cl-number-cell", 0, {
          "data-value": value,
          opacity: 0.12 + 0.88 * Math.abs(value / largest),
        }),
      ),
    );
  };

  const lane = (tokens, lang, y, name, ids, current, stop) => {
    const embedded = embedTokens(data.weights, ids);
    tokens.forEach((word, i) => {
      const [x, w] = g.chip;
      const now = i === current ? " cl-now" : "";
      put(
        line(`M${x + w} ${y(i)}H${stop}`, `cl-rail${lang === "fr" ? now : ""}`),
        box(x, y(i) - 10.5, w, 21, `cl-chip${now}`, 5),
        words(x + w / 2, y(i) + 4.5, word, `cl-middle cl-small${now}`, { lang }),
        g.strip && cells(g.strip, y(i), embedded[i], `${name}-embedding`),
        cells(g.place, y(i), sinusoid(i, embedded[i].length), `${name}-position`, "position"),
      );
    });
  };

  /** Each query (right) joined to the keys it looks at (left); thicker is more. */
  const looks = (id, y, weights, current, name) => {
    const [x, w] = panels[id];
    const inset = g.wide ? 14 : 9;
    const from = x + inset,
      to = x + w - inset,
      middle = (from + to) / 2;
    const strong = [],
      group = drawing("g", { "data-name": name });
    weights.forEach((shares, i) =>
      shares.forEach((share, j) => {
        if (share < SEEN) return;
        const on = i === current;
        const curve = line(
          `M${from} ${y(j)}C${middle} ${y(j)} ${middle} ${y(i)} ${to} ${y(i)}`,
          `cl-look${on ? " cl-now" : ""}`,
          { "stroke-width": 0.6 + 6 * share, "data-value": share, "data-query": i, "data-key": j },
        );
        if (on) strong.push(curve);
        else group.append(curve);
      }),
    );
    group.append(...strong);
    put(group);
    weights.forEach((shares, i) => {
      const used = current < 0 || (weights[current][i] ?? 0) >= SEEN;
      put(
        box(from - 4, y(i) - 4, 8, 8, `cl-key${used ? "" : " cl-faint"}`, 1),
        drawing("circle", {
          cx: to,
          cy: y(i),
          r: 4.5,
          class: `cl-query${current < 0 || i === current ? "" : " cl-faint"}`,
        }),
      );
    });
  };

  /** The feed-forward network, once for every row; darker where it adds a longer vector. */
  const feed = (id, y, fed, current, name) => {
    const [x, w] = panels[id];
    const lengths = fed.map(norm),
      half = Math.min(w / 2 - 5, 26),
      middle = x + w / 2;
    const corners = [
      [-half, -3],
      [0, -9],
      [half, -3],
      [half, 3],
      [0, 9],
      [-half, 3],
    ];
    put(
      drawing(
        "g",
        { "data-name": name },
        lengths.map((length, i) => {
          const points = corners.map(([dx, dy]) => `${middle + dx},${y(i) + dy}`).join(" ");
          const shade = drawing("polygon", {
            points,
            class: "cl-shade",
            opacity: (0.5 * length) / Math.max(...lengths),
            "data-value": length,
          });
          const edge = drawing("polygon", {
            points,
            class: `cl-edge6${i === current ? " cl-now" : ""}`,
          });
          return drawing("g", {}, drawing("polygon", { points, class: "cl-backing" }), shade, edge);
        }),
      ),
    );
  };

  // The encoder and its memory.
  lane(result.source, "en", high, "source", result.ids, most, panels.memory[0]);
  looks("self", high, meanOf(encoder.weights), most, "self");
  feed("ffn", high, encoder.fed, most, "ffn");

  // From the memory into the decoder: strands side by side, so that their widths add up.
  const strands = (cross ?? [])
    .map((share, j) => [j, share, 0.8 + 6 * share])
    .filter(([, share]) => share >= SEEN);
  let used = -strands.reduce((sum, [, , width]) => sum + width, 0) / 2;
  const bus = drawing("g", { "data-name": "cross" });
  for (const [j, share, width] of strands) {
    const shift = used + width / 2,
      trunk = g.trunk - shift,
      x = panels.memory[0] + panels.memory[1] - 4,
      y = low(row) + shift,
      bend = Math.max(0, Math.min(14, trunk - x)),
      turn = Math.max(2, 10 + shift);
    bus.append(
      line(
        `M${x} ${high(j)}H${trunk - bend}Q${trunk} ${high(j)} ${trunk} ${high(j) + bend}V${y - turn}Q${trunk} ${y} ${trunk + turn} ${y}H${g.trunk + 12}`,
        "cl-look cl-now",
        { "stroke-width": width, "data-value": share, "data-query": row, "data-key": j },
      ),
    );
    used += width;
  }
  put(bus);
  result.source.forEach((word, j) => {
    const [x, w] = panels.memory;
    const faint = cross && cross[j] < SEEN ? " cl-faint" : "";
    const now = j === most ? " cl-now" : "";
    const middle = g.kept ? (x + 14 + g.kept[0]) / 2 : x + w / 2;
    put(
      box(x + 3, high(j) - 10.5, w - 6, 21, `cl-chip${now}`, 5),
      box(x + 7, high(j) - 6, 4, 12, `cl-key${faint}`, 1),
      box(x + w - 11, high(j) - 6, 4, 12, `cl-value${faint}`, 1),
      words(middle, high(j) + 4.5, word, `cl-middle cl-small${now}`, { lang: "en" }),
      g.kept && cells(g.kept, high(j), result.memory[j], "memory"),
    );
  });

  // The decoder, as far as it has written.
  const read = result.read.slice(0, Math.max(1, step)).map((id) => data.words[id]);
  const stop = g.wide ? panels.out[0] : panels.ffn2[0] + panels.ffn2[1];
  lane(read, "fr", low, "target", result.read.slice(0, read.length), row, step ? stop : g.chip[0]);
  if (!step) return drawing("g", { class: "cl-moving", "aria-hidden": "true" }, parts);
  looks(
    "masked",
    low,
    meanOf(decoder.weights)
      .slice(0, step)
      .map((r) => r.slice(0, step)),
    row,
    "masked",
  );
  const [crossX] = panels.cross;
  for (let i = 0; i < step; i++) {
    const faint = i === row ? "" : " cl-faint";
    put(drawing("circle", { cx: crossX + 12, cy: low(i), r: 4.5, class: `cl-query${faint}` }));
  }
  put(line(`M${g.trunk + 12} ${low(row) - 7}l7 7l-7 7l-7-7z`, "cl-value"));
  feed("ffn2", low, decoder.fed.slice(0, step), row, "ffn2");

  // The next word.
  const best = descending(result.probabilities[row]).slice(0, g.wide ? 4 : 3);
  const [outX, outW] = panels.out;
  const top = g.wide ? g.out + 26 : g.out + 12;
  put(
    line(
      g.wide
        ? `M${outX - 1} ${low(row)}C${outX + 12} ${low(row)} ${outX + 2} ${top} ${outX + 18} ${top}`
        : `M${stop} ${low(row)}Q${g.width - 3} ${low(row)} ${g.width - 3} ${low(row) + 8}V${g.out - 8}`,
      "cl-rail cl-now",
    ),
  );
  const bars = drawing("g", { "data-name": "next" });
  best.forEach((id, i) => {
    const share = result.probabilities[row][id];
    const now = i ? "" : " cl-now";
    const kept = { "data-value": share, "data-logit": result.logits[row][id], "data-id": id };
    const y = top + i * (g.wide ? 44 : 26);
    const x = g.wide ? outX + 24 : g.width * 0.26;
    const room = g.wide ? outW - 40 : g.width * 0.52;
    bars.append(
      g.wide
        ? words(x, y + 5, data.words[id], now.trim(), { lang: "fr" })
        : words(x - 8, y + 4.5, data.words[id], `cl-end cl-small${now}`, { lang: "fr" }),
      box(x, g.wide ? y + 12 : y - 6, room, g.wide ? 5 : 12, "cl-track", 2),
      box(
        x,
        g.wide ? y + 12 : y - 6,
        Math.max(2, room * share),
        g.wide ? 5 : 12,
        `cl-bar6${now}`,
        2,
      ),
      words(
        g.wide ? x + room : x + room + 8,
        y + (g.wide ? 5 : 4.5),
        format(share),
        `${g.wide ? "cl-end" : ""}${now}`,
        kept,
      ),
    );
  });
  put(bars);
  return drawing("g", { class: "cl-moving", "aria-hidden": "true" }, parts);
}

/** The letters of the drawing's colours. */
function legend() {
  return element(
    "p",
    {},
    html`<b class="cl-q">Q</b> asks, <b class="cl-k">K</b> answers, <b class="cl-v">V</b> is fetched, the thickness of a line is the <b class="cl-attention">weight</b>.`,
  );
}

// For who has never seen one: nine stages in the order in which a sentence meets them.
const TOUR = [
  [
    "words",
    "Each word is looked up in a table and becomes a row of numbers. From here on the model sees numbers only.",
  ],
  [
    "place",
    "Nothing so far says which word comes first. So numbers that stand for the place are added.",
  ],
  [
    "self",
    "Every word looks at all others and takes something from those that matter to it. The thicker a line, the more.",
  ],
  ["ffn", "Then each word, by itself, passes a small network. It is the same one for all words."],
  [
    "memory",
    "After the last block the English sentence is one vector for each word. They are kept.",
  ],
  [
    "written",
    "The lower half writes. It reads what it has written so far; [BOS] stands for the beginning.",
  ],
  ["masked", "These words look at each other, too, but never to the right: there is nothing yet."],
  [
    "cross",
    "The last word that was written looks into the English sentence, for what to write next.",
  ],
  [
    "out",
    "Every French word gets a probability. The most probable one is written, and the lower half begins again.",
  ],
];

/** What a stage does with the present word, in numbers. */
function inNumbers(id, { data, result, step, block }) {
  const width = result.memory[0].length;
  const row = Math.max(0, step - 1);
  const encoder = result.encoded[block],
    decoder = result.decoded[block];
  const most = argmax(meanOf(decoder.crossWeights)[row]);
  const read = result.read.map((number) => data.words[number]);
  const looked = (weights, query, names) => {
    const shares = meanOf(weights)[query];
    return `looks most at “${names[argmax(shares)]}” (${format(Math.max(...shares))})`;
  };
  const fed = (rows, i, name) =>
    `Here it adds a vector of length ${format(norm(rows[i]))} to the one of “${name}”.`;
  const best = argmax(result.probabilities[row]);
  return {
    words: `${result.source.length} words, each a row of ${width} numbers out of ${data.words.length} rows.`,
    place: "The same for every word: sines and cosines of its place.",
    self: `“${result.source[most]}” ${looked(encoder.weights, most, result.source)}.`,
    ffn: fed(encoder.fed, most, result.source[most]),
    memory: `${result.source.length} × ${width} numbers, made once and read at every step.`,
    written: `${row + 1} so far; the model reads its own words.`,
    place2: "The same for every word: sines and cosines of its place.",
    masked: `“${read[row]}” ${looked(decoder.weights, row, read)}, and never to the right.`,
    cross: `“${read[row]}” ${looked(decoder.crossWeights, row, result.source)}.`,
    ffn2: fed(decoder.fed, row, read[row]),
    out: `${data.words.length} words compete; “${data.words[best]}” has ${format(result.probabilities[row][best])}.`,
    loop: `“${data.words[best]}” becomes the decoder’s next input.`,
    block: `${data.num_layers} blocks, one after the other; the lines are the residual stream.`,
    block2: `${data.num_layers} blocks, one after the other; the lines are the residual stream.`,
  }[id];
}

function render({ model, el }) {
  const data = withWeights(model.get("data"));
  const state = connect(model);
  const computed = remember((sentence) => greedyTranslation(data, wordsOf(sentence)));
  const now = (value) => {
    const result = computed(value.sentence);
    const step = Math.min(value.word, result.target.length);
    return { data, result, step, block: value.block };
  };

  const read = (sentence) => ({ sentence, word: 1 }); // another sentence starts at its first word
  const typed = textInput(state, "sentence", {
    name: "typed",
    lang: "en",
    complaint: (text) => untranslatable(data, text),
    offers: (text) => withKnownWords(data, text),
    change: (text) => (untranslatable(data, text) ? null : read(wordsOf(text).join(" "))),
  });

  // ---- the drawing, and what is said of a stage
  const root = drawing("svg", {
    role: "group",
    "aria-label":
      "The whole model: the encoder reads the English sentence, the decoder writes the French one",
  });
  const told = element("div");
  const tip = element("div", { class: "cl-about" }, told);
  const picture = element("div", { class: "cl-whole" }, root, tip);
  let open = null,
    tapped = null;
  function explain(id) {
    open = id;
    for (const node of root.querySelectorAll(".cl-door")) {
      node.classList.toggle("cl-open", node.dataset.door === id);
    }
    const to = data.doors[id];
    const doors = Object.keys(data.doors).length > 0;
    const [stop, introduced] = TOUR[state.value.tour - 1] ?? [];
    const lead = stop === id ? element("p", {}, introduced) : to && element("b", {}, to.question);
    told.replaceChildren(
      ...(id === null
        ? [
            element(
              "b",
              {},
              doors
                ? "Click any part to open its chapter."
                : "Point at any part, or tap it, to see its numbers.",
            ),
            legend(),
          ]
        : [
            lead,
            element("p", {}, inNumbers(id, now(state.value))),
            to && element("p", {}, element("a", { href: to.href }, `${to.title} →`)),
          ].filter(Boolean)),
    );
  }
  function door(id, ...parts) {
    const to = data.doors[id];
    const name = parts.map((node) => node?.textContent ?? "").join("") || WIDE.labels[id];
    const node = drawing(
      to ? "a" : "g",
      {
        class: "cl-door",
        "data-door": id,
        href: to?.href,
        "aria-label": to && `${name}: ${to.question} Chapter: ${to.title}`,
      },
      parts.filter(Boolean),
    );
    node.addEventListener("focus", () => explain(id));
    node.addEventListener("pointerenter", () => {
      if (!state.value.tour) explain(id); // a page that scrolls below the pointer ends no tour
    });
    node.addEventListener("click", (event) => {
      // A finger cannot hover: its first tap explains, its second goes.
      if (event.pointerType === "touch" && tapped !== id) event.preventDefault();
      tapped = id;
      explain(id);
    });
    return node;
  }
  tip.prepend(
    button(state, "", ({ tour }) => ({ tour: (tour + 1) % (TOUR.length + 1) }), {
      draw: (node, { tour }) => {
        const rest =
          tour === TOUR.length ? "That was the tour" : `Go on, ${tour} of ${TOUR.length}`;
        node.textContent = tour ? rest : "Show me around";
      },
    }),
  );
  let drawn = "",
    toured = 0;
  state.draw(({ tour }) => {
    if (tour === toured) return;
    toured = tour;
    picture.classList.toggle("cl-touring", tour > 0);
    told.ariaLive = tour ? "polite" : null;
    explain(tour ? TOUR[tour - 1][0] : null);
  });
  state.drawWide(picture, (value, width) => {
    const { result } = now(value);
    const g = layout(width, [result.source.length, result.target.length]);
    const key = JSON.stringify([width, g.heights]);
    if (key !== drawn) {
      drawn = key;
      picture.classList.toggle("cl-wide-scene", g.wide);
      fill(root, { viewBox: `0 0 ${g.width} ${g.height}`, width: g.width, height: g.height }, []);
      root.replaceChildren(drawing("g", {}, still(g, data.num_layers, door)), drawing("g", {}));
    }
    root.lastChild.replaceWith(moving(g, now(value)));
    explain(open);
  });

  // ---- stepping
  const said = element("ol", {
    class: "cl-said",
    lang: "fr",
    "aria-label": "the translation so far",
  });
  state.draw((value) => {
    const { result, step } = now(value);
    const done = result.target.slice(0, step).filter((word) => word !== "[EOS]");
    said.replaceChildren(
      ...done.map((word) => element("li", {}, word)),
      step < result.target.length ? element("li", { "aria-hidden": "true" }, "…") : "",
    );
  });
  const steps = slider(state, "word", "word", {
    min: 0,
    max: (value) => now(value).result.target.length,
    describe: (_, value) => {
      const { result, step } = now(value);
      return step ? `${step} of ${result.target.length}` : `none of ${result.target.length}`;
    },
  });
  const turn = (text, by, name) =>
    button(
      state,
      text,
      (value) => {
        const { result, step } = now(value);
        return { word: clamp(step + by, 0, result.target.length) };
      },
      {
        class: name,
        draw: (node, value) => {
          const { result, step } = now(value);
          node.setAttribute("aria-disabled", step === (by < 0 ? 0 : result.target.length));
        },
      },
    );
  const shown = choice(
    state,
    "block",
    "weights of",
    Array.from({ length: data.num_layers }, (_, i) => [i, `block ${i + 1}`]),
  );

  const say = announce(state, (value) => {
    const { result, step, block } = now(value);
    const { source, target } = result;
    if (step === 0) {
      return `The encoder has read all ${source.length} words at once, and every word looked at every other. The decoder starts from [BOS].`;
    }
    const [best, next] = descending(result.probabilities[step - 1]);
    const share = (id) => format(result.probabilities[step - 1][id]);
    const cross = meanOf(result.decoded[block].crossWeights)[step - 1];
    const most = argmax(cross);
    return (
      `Word ${step}: “${target[step - 1]}” has probability ${share(best)}, ` +
      `“${data.words[next]}” ${share(next)}. Block ${block + 1} looked most at “${source[most]}” ` +
      `(${format(cross[most])}, mean of ${data.block.numHeads} heads).` +
      (source.length > data.trained_length
        ? ` The sentence is longer than any that the model was trained on (${data.trained_length} words).`
        : "")
    );
  });

  const puzzles = goals(state, [
    {
      text: "Find a step at which the model gives its best word less than 0.60.",
      reached: (value) => {
        const { result, step } = now(value);
        return step > 0 && Math.max(...result.probabilities[step - 1]) < 0.6;
      },
    },
    {
      text: `Have it read a sentence of more than ${data.trained_length} words, longer than any in its training.`,
      reached: (value) => now(value).result.source.length > data.trained_length,
    },
  ]);

  frame(
    el,
    "The whole model, translating",
    tabs(state, "sentence", "a sentence goes in", data.examples.slice(0, PICKS), read),
    element("label", { class: "cl-control cl-write" }, "or write your own", typed.input),
    typed.alert,
    picture,
    said,
    element(
      "div",
      { class: "cl-controls" },
      steps,
      turn("Back", -1),
      turn("Next word", 1, "cl-main"),
      shown,
    ),
    say,
    puzzles,
    knownWords(data),
  );
  el.firstChild.classList.add("cl-translator");
  return state.close;
}

export default { render };
