// Prefill and decode on a time line, with the cache of one layer: a row for every key head, a column
// for every token.

import { connect, tabs } from "../../page/kit/controls.js";
import { css, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { html } from "../../page/kit/html.js";
import { arrow } from "../../page/kit/parts.js";
import { group, label, part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";
import { tableRow } from "../../page/kit/tables.js";

css`
  .cl-kept {
    display: grid;
    gap: 0.4rem 1.6rem;
    grid-template-columns: 17rem minmax(0, 1fr);
    align-items: start;
    margin-top: 0.4rem;
  }
  .cl-kept :is(.cl-counts, .cl-goals p) {
    margin-top: 0;
  }
  @media (max-width: 40rem) {
    .cl-kept {
      grid-template-columns: minmax(0, 1fr);
    }
  }
`;

/** After a step (0: the prompt lies there, 1: prefill, then a token each): tokens in the cache, those
    computed at this step, and all that were computed, with a cache and without. */
function tally(step, prompt) {
  const held = step ? prompt + step - 1 : 0;
  let again = 0;
  for (let t = 1; t <= step; t++) again += prompt + t - 1;
  return { held, now: step > 1 ? 1 : step * prompt, kept: held, again };
}

/** Key heads of a way to share them. */
const keyHeads = ({ num_heads: heads, num_kv_heads: grouped }, { heads: way }) =>
  ({ full: heads, grouped, single: 1 })[way];

/** Bytes of the cache: keys and values, in every layer, for every key head and token. */
const bytes = ({ num_layers: layers, d_k: width, bytes_per_number: each }, heads, tokens) =>
  2 * layers * heads * width * each * tokens;

function build(root, width, data) {
  const { words, prompt, num_heads: heads } = data;
  const left = 68, // room for the longest name of a row
    column = (width - left - 4) / words.length;
  const x = (i) => left + i * column,
    cell = 6, // pixels of a head's row
    narrow = column < 48,
    top = narrow ? 46 : 30,
    rows = { text: 18, pass: top, q: top + 22, k: top + 54 };
  rows.v = rows.k + heads * cell + 9;
  const end = rows.v + heads * cell + 2;
  root.append(
    label("computes", 0, rows.pass + 5, "cl-start cl-quiet"),
    drawing("g", { class: "cl-k" }, label("keys", 0, rows.k + 12, "cl-start cl-own")),
    drawing("g", { class: "cl-v" }, label("values", 0, rows.v + 12, "cl-start cl-own")),
    drawing("g", { class: "cl-q" }, label("query", 0, rows.q + 8, "cl-start cl-own")),
  );
  // the words: upright where there is room, turned where there is none
  const names = words.map((word, i) => {
    const text = label(word, 0, 0, narrow ? "cl-start" : "");
    if (narrow) text.setAttribute("transform", "rotate(-38)");
    const at = narrow ? column * 0.3 : column / 2;
    return group(root, { x: x(i) + at, y: rows.text + (narrow ? 16 : 0) }, text);
  });
  const box = drawing("rect", { class: "cl-unit", y: rows.pass - 9, height: 18, rx: 4 });
  box.style.stroke = "var(--first)";
  const pass = part(root, drawing("g", {}, box), { from: 0, long: 0, o: 0 }, ({ from, long }) =>
    fill(box, { x: x(0) + from, width: Math.max(0, long) }, []),
  );
  // a cell for each key head and token, and the query's heads above the token at work
  const stack = (kind, top) =>
    words.map((_, i) =>
      Array.from({ length: heads }, (_, head) => {
        const node = drawing(
          "g",
          { class: `cl-${kind}`, "data-name": kind },
          drawing("rect", { class: "cl-tint", width: column - 5, height: cell - 1, rx: 1.5 }),
        );
        return part(root, node, { x: x(i) + 2, y: top + head * cell, o: 0 });
      }),
    );
  const stacks = { k: stack("k", rows.k), v: stack("v", rows.v) };
  // every token's own query, a dot for each head; a bar under those that share a key head
  const apart = Math.min(7, (column - 6) / heads);
  const at = (i, head) => x(i) + column / 2 + (head - (heads - 1) / 2) * apart;
  const queries = words.map((_, i) => {
    const dots = Array.from({ length: heads }, (_, head) =>
      drawing("circle", { class: "cl-tint", r: apart * 0.4, cx: at(i, head), cy: rows.q + 4 }),
    );
    const node = drawing("g", { class: "cl-q", "data-name": "q" }, ...dots);
    return part(root, node, { x: 0, y: 0, o: 0 });
  });
  const shared = words.map((_, i) =>
    Object.entries({ full: heads, grouped: data.num_kv_heads, single: 1 }).map(([way, groups]) => {
      const each = heads / groups;
      const bars = Array.from({ length: groups }, (_, group) =>
        drawing("rect", {
          class: "cl-tint",
          x: at(i, group * each) - apart * 0.4,
          y: rows.q + 10,
          width: (each - 1 + 0.8) * apart,
          height: 3,
          "data-name": "shared",
        }),
      );
      return [way, part(root, drawing("g", { class: "cl-k" }, ...bars), { x: 0, y: 0, o: 0 })];
    }),
  );
  // a query meets its own key and those before it
  const looks = words.flatMap((_, from) =>
    Array.from({ length: from + 1 }, (_, to) => {
      const ends = { x1: x(from) + column / 2, y1: rows.q + 15, x2: x(to) + column / 2 };
      const look = arrow(
        root,
        "attention",
        { ...ends, y2: rows.k - 2, w: 1.5, o: 0 },
        { head: false },
      );
      return [from, look];
    }),
  );

  function pose(value, { jump }) {
    const { step } = value;
    const { held, now } = tally(step, prompt);
    const groups = keyHeads(data, value);
    const first = held - now;
    names.forEach((name, i) => name.to({ o: i < Math.max(prompt, held) ? 1 : 0 }, { jump }));
    pass.to({ from: first * column + 2, long: now * column - 5, o: step ? 1 : 0 }, { jump });
    for (const columns of Object.values(stacks)) {
      columns.forEach((parts, i) =>
        parts.forEach((one, head) => {
          const there = i < held && head < groups;
          const fresh = i >= first;
          one.to({ o: there ? (fresh ? 1 : 0.5) : 0 }, { jump, delay: there && fresh ? 250 : 0 });
        }),
      );
    }
    const asks = (i) => i >= first && i < held; // queries are used at once and not kept
    queries.forEach((query, i) => query.to({ o: asks(i) ? 1 : 0 }, { jump }));
    shared.forEach((all, i) =>
      all.forEach(([way, bars]) =>
        bars.to({ o: asks(i) && way === value.heads ? 1 : 0 }, { jump }),
      ),
    );
    looks.forEach(([from, look]) =>
      look.to({ o: asks(from) ? (now > 1 ? 0.35 : 0.6) : 0 }, { jump }),
    );
  }
  return { height: end, pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const { words, prompt, num_heads: heads } = data;
  const state = connect(model);
  const ways = [
    ["full", `full: ${heads} key heads`],
    ["grouped", `grouped: ${data.num_kv_heads}`],
    ["single", "single: 1"],
  ];
  const kib = (number) => `${format(number / 1024, 1)}\u00a0KiB`;
  const size = (value) => bytes(data, keyHeads(data, value), tally(value.step, prompt).held);

  const scene = stage(state, "Prefill and decode, and the cache of one layer", (root, width) =>
    build(root, width, data),
  );
  const cell = (name) => element("td", { "data-name": name });
  const cells = {
    now: cell("now"),
    kept: cell("kept"),
    again: cell("again"),
    bytes: cell("bytes"),
  };
  const table = element(
    "table",
    { class: "cl-counts" },
    element(
      "tbody",
      {},
      tableRow("tokens computed now", cells.now),
      tableRow("in all", cells.kept),
      tableRow("in all, without a cache", cells.again),
      tableRow("cache, all layers", cells.bytes),
    ),
  );
  state.draw((value) => {
    const counted = tally(value.step, prompt);
    for (const name of ["now", "kept", "again"]) write(cells[name], counted[name], 0);
    write(cells.bytes, size(value), 0);
    cells.bytes.textContent = kib(size(value));
  });

  const caption = (value) => {
    const { step } = value;
    const { held } = tally(step, prompt);
    const groups = keyHeads(data, value);
    const shared =
      groups === heads
        ? "Each query head has keys of its own."
        : `${heads} query heads share ${groups === 1 ? "one key head" : `${groups} key heads`}: a bar joins those that do.`;
    if (step === 0) return `The prompt has ${prompt} tokens. The cache is empty.`;
    if (step === 1) {
      return html`<b>Prefill</b>: all ${prompt} tokens of the prompt go through the model in one
        pass. Their <b class="cl-k">keys</b> and <b class="cl-v">values</b> stay:
        ${kib(size(value))}. ${shared}`;
    }
    return html`<b>Decode</b>: only “${words[held - 1]}” is computed. Its
      <b class="cl-q">query</b> meets ${held} keys in the cache, which now takes
      ${kib(size(value))}. ${shared}`;
  };
  const names = ["prompt", "prefill", ...words.slice(prompt).map((_, i) => `+${i + 1}`)];
  const steps = stepper(state, { steps: names.map((name) => ({ name, caption })), pace: 2200 });
  const puzzles = goals(state, [
    {
      text: "At the last word, hold a smaller cache than full heads need after the prompt.",
      reached: (value) =>
        value.step === names.length - 1 && size(value) < bytes(data, heads, prompt),
    },
    {
      text: "Find the first step at which a model without a cache has computed more than three times as many tokens as one with.",
      reached: ({ step }) => {
        const ratio = (at) => tally(at, prompt).again / Math.max(1, tally(at, prompt).kept);
        return ratio(step) > 3 && ratio(step - 1) <= 3;
      },
    },
  ]);
  frame(
    el,
    `Prefill and decode, in the sizes of ${data.name}`,
    tabs(state, "heads", "key heads", ways),
    scene,
    steps,
    element("div", { class: "cl-kept" }, table, puzzles),
  );
  return state.close;
}

export default { render };
