// Attention tile by tile: blocks travel from the large memory to the small one, every byte is counted,
// and every query holds a running maximum, sum and blend.

import { button, choice, connect, remember, slider, toggle } from "../../page/kit/controls.js";
import {
  announce,
  css,
  drawing,
  element,
  fill,
  format,
  frame,
  steady,
  write,
  writeOrDash,
} from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { dot, matmul, softmax, transpose } from "../../page/kit/numerics.js";
import { NOTHING_HELD, runningSoftmax } from "../../page/kit/online_softmax.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { columnHead, headRow, tableRow } from "../../page/kit/tables.js";

css`
  .cl-tiles {
    display: flex;
    flex-wrap: wrap;
    gap: 0.3rem 1.4rem;
    margin-top: 0.2rem;
    font-size: 0.86rem;
  }
  .cl-controls:has(~ .cl-tiles) {
    margin: -0.4rem 0 0.6rem;
  }
  .cl-captions:has(~ .cl-tiles) .cl-say {
    margin-top: 0.5rem;
  }
  .cl-tiles :is(td, th) {
    padding: 0.05rem 0.3rem;
    font-size: 0.82rem;
  }
  .cl-tiles [data-name="scores"] tbody td {
    width: 2.3rem;
    min-width: 2.3rem;
    text-align: center;
    border: 1px solid var(--line);
  }
  .cl-tiles-moved {
    margin: 0.2rem 0 0;
    font-size: 0.86rem;
  }
`;

/** The slices that cut a length into blocks, as [start, stop]. */
const blocks = (length, size) =>
  Array.from({ length: Math.ceil(length / size) }, (_, i) => [
    i * size,
    Math.min((i + 1) * size, length),
  ]);

/** The loops of companion.kernels.tiled_forward, with what every query holds after each tile.
    steps[0] is the start, before the first tile. */
function walk({ query, key, value }, block, causal) {
  const T = query.length,
    S = key.length;
  const scores = matmul(query, transpose(key)).map((row, i) =>
    row.map((score, j) =>
      causal && j > i + S - T ? -Infinity : score / Math.sqrt(query[0].length),
    ),
  );
  let held = query.map(() => NOTHING_HELD);
  const steps = [{ rows: [0, 0], columns: [0, 0], held }];
  for (const rows of blocks(T, block)) {
    const sight = causal ? Math.max(0, Math.min(S, rows[1] + S - T)) : S;
    for (const columns of blocks(sight, block)) {
      held = held.map((old, i) => {
        if (i < rows[0] || i >= rows[1]) return { ...old, rescale: NaN };
        return runningSoftmax(old, scores[i].slice(...columns), value.slice(...columns));
      });
      steps.push({ rows, columns, held });
    }
  }
  const exact = scores.map((row) => dot(softmax(row), value));
  return { scores, steps, exact };
}

const span = ([start, stop], name) =>
  stop - start === 1 ? `${name} ${stop}` : `${name}s ${start + 1} to ${stop}`;

const BYTES = 4; // of a number, in float32

/** Numbers that the steps up to `at` have read from the large memory and written to it: a row of tiles
    reads its queries once, every tile its keys and values, and the end of a row writes its output. */
function traffic({ query }, steps, at) {
  const d = query[0].length;
  let [read, written] = [0, 0];
  for (let i = 1; i <= at; i++) {
    const { rows, columns } = steps[i];
    if (columns[0] === 0) read += (rows[1] - rows[0]) * d;
    read += (columns[1] - columns[0]) * (d + 1);
    if (endsRow(steps, i)) written += rows[1] - rows[0];
  }
  return { read, written };
}
const endsRow = (steps, i) => steps[i + 1]?.rows[0] !== steps[i].rows[0];

/** The same for the whole table: scores are written, read, and written again as weights, and read. */
function tableTraffic({ query, key }) {
  const [T, S, d] = [query.length, key.length, query[0].length];
  return { read: T * d + S * (d + 1) + 2 * T * S, written: T + 2 * T * S };
}

/** Numbers that must fit into the small memory: blocks of Q, K and V, a tile, and what every query
    holds (maximum, sum, blend). */
const room = ({ query }, block) => block * (2 * query[0].length + 1) + block * block + 3 * block;

/** Both memories: rows of Q, K, V and O in the large one, blocks of them in the small one. */
function build(root, width, data, result, at) {
  const [T, S, d] = [data.query.length, data.key.length, data.query[0].length];
  const wide = width >= 520;
  const u = Math.min(11, Math.floor((wide ? width * 0.5 : width) / (2 * d + S + 14))), // a number's
    row = 14,
    gap = 1.4 * u + 4;
  const long = Math.max(T, S) * row;
  const inKind = (kind, ...nodes) => drawing("g", { class: `cl-${kind}` }, nodes);
  const panel = (x, y, w, h, title) =>
    root.append(
      drawing("rect", { class: "cl-unit", x, y, width: w, height: h, rx: 6 }),
      label(title, x + 10, y + 18, "cl-start cl-strong"),
    );
  const left = 12,
    top = 46;
  const hbmWide = wide ? width * 0.5 - 8 : width,
    hbmHigh = top + long + 8;
  const sx = wide ? width * 0.5 + 8 : 0,
    sy = wide ? 0 : hbmHigh + 16;
  panel(0, 0, hbmWide, hbmHigh, "large memory (HBM)");
  panel(sx, sy, wide ? width - sx : width, hbmHigh, "small memory (SRAM)");

  const kinds = { Q: ["q", d, T], K: ["k", d, S], V: ["v", 1, S], O: ["v", 1, T] };
  let x = left;
  const home = {}; // where each matrix lies in the large memory
  const outputs = [];
  for (const [name, [kind, columns, count]] of Object.entries(kinds)) {
    home[name] = x;
    for (let i = 0; i < count; i++) {
      const place = { x, y: top + i * row, width: columns * u, height: row - 2, rx: 2 };
      const tint = drawing("rect", { class: "cl-tint", ...place, opacity: 0.35 });
      if (name === "O") outputs.push(part(root, inKind(kind, tint), { o: 0 }));
      else root.append(inKind(kind, tint));
      root.append(inKind(kind, drawing("rect", { class: "cl-edge", ...place })));
    }
    root.append(inKind(kind, label(name, x + (columns * u) / 2, top - 8, "cl-own cl-strong")));
    x += columns * u + gap;
  }

  // the table, which is never there
  root.append(
    drawing("rect", {
      class: "cl-axis",
      "stroke-dasharray": "4 3",
      x,
      y: top,
      width: S * u,
      height: T * row - 2,
    }),
    label("no table", x + (S * u) / 2, top - 8, "cl-quiet"),
  );
  const spot = drawing("rect", { class: "cl-edge", rx: 2 });
  const shadow = part(root, inKind("attention", spot), { x, y: top, o: 0, w: 1, h: 1 }, (now) =>
    fill(spot, { width: now.w * u, height: Math.max(2, now.h * row - 2) }, []),
  );
  const table = x;

  // what travels: a block of rows, drawn as one box
  const traveller = (name) => {
    const [kind, columns] = kinds[name];
    const box = drawing("rect", { class: "cl-paper", width: columns * u, rx: 2 }),
      tint = drawing("rect", { class: "cl-tint", width: columns * u, rx: 2, opacity: 0.55 }),
      edge = drawing("rect", { class: "cl-edge", width: columns * u, rx: 2 });
    const node = inKind(kind, box, tint, edge, label(name, (columns * u) / 2, -5, "cl-own"));
    return part(root, node, { o: 0, rows: 1 }, ({ rows }) =>
      [box, tint, edge].forEach((rect) => rect.setAttribute("height", Math.max(2, rows * row - 2))),
    );
  };
  const moving = Object.fromEntries(["Q", "K", "V", "O"].map((name) => [name, traveller(name)]));
  const inside = {
    Q: { x: sx + left, y: sy + top },
    K: { x: sx + left + d * u + gap, y: sy + top },
    V: { x: sx + left + 2 * (d * u + gap), y: sy + top },
    O: { x: sx + left + 2 * (d * u + gap) + u + gap, y: sy + top },
  };
  const tileAt = { x: sx + left + 2 * (d * u + gap) + 2 * (u + gap), y: sy + top };
  const square = drawing("rect", { class: "cl-tint", rx: 2, opacity: 0.55 });
  const tile = part(
    root,
    inKind("attention", square, label("tile", u, -5, "cl-own cl-start")),
    { ...tileAt, x: tileAt.x - u, o: 0, w: 1, h: 1 },
    ({ w, h }) =>
      fill(square, { x: u, width: Math.max(2, w * u), height: Math.max(2, h * row - 2) }, []),
  );

  let before = "";
  function pose(value, { jump }) {
    const { steps } = result(value),
      now = at(value),
      { rows, columns } = steps[now];
    const key = JSON.stringify([now, value.block, value.causal]),
      fresh = key !== before && !jump;
    before = key;
    const fly = (name, from, there, seen, start) => {
      const goal = { ...inside[name], rows: there[1] - there[0], o: seen ? 1 : 0 };
      if (fresh && seen && start) {
        moving[name].to({ ...from, rows: goal.rows, o: 1 }, { jump: true });
      }
      moving[name].to(goal, { jump });
    };
    const hbm = (name, [start]) => ({ x: home[name], y: top + start * row });
    const working = now > 0;
    fly("Q", hbm("Q", rows), rows, working, columns[0] === 0);
    fly("K", hbm("K", columns), columns, working, true);
    fly("V", hbm("V", columns), columns, working, true);
    const leaving = working && endsRow(steps, now);
    moving.O.to({ ...inside.O, rows: rows[1] - rows[0], o: working ? 1 : 0 }, { jump: true });
    if (leaving) moving.O.to({ ...hbm("O", rows), o: 0.9 }, { jump, delay: 500 });
    const done = (i) =>
      steps.some(
        ({ rows }, j) => j > 0 && j <= now && endsRow(steps, j) && i >= rows[0] && i < rows[1],
      );
    outputs.forEach((output, i) =>
      output.to({ o: done(i) ? 1 : 0 }, { jump, delay: jump ? 0 : 700 }),
    );
    const size = { w: columns[1] - columns[0], h: rows[1] - rows[0], o: working ? 1 : 0 };
    shadow.to({ ...size, x: table + columns[0] * u, y: top + rows[0] * row }, { jump });
    tile.to(size, { jump });
  }
  return { height: wide ? hbmHigh : 2 * hbmHigh + 16, pose };
}

/** Bytes that have crossed, beside those of the whole table, and what must fit into the small memory. */
function counter(state, data, result, at, sizes) {
  const count = (name) => element("b", { "data-name": name });
  const cells = (names) => Object.fromEntries(names.map((name) => [name, count(name)]));
  const tiles = cells(["read", "written", "moved"]),
    whole = cells(["table-read", "table-written", "table-moved"]);
  const fits = element("span", {}),
    needed = count("room");
  const fitting = (value) => {
    const wanted = room(data, value.block),
      over = wanted > data.capacity;
    write(needed, wanted * BYTES, 0);
    fits.replaceChildren(
      "In the small memory: ",
      needed,
      ` of ${data.capacity * BYTES} bytes. `,
      over ? "These tiles do not fit: a real program would not start." : "They fit.",
    );
  };
  const counting = (value) => {
    const { steps } = result(value);
    const put = (nodes, { read, written }) =>
      [read, written, read + written].forEach((sum, j) =>
        write(Object.values(nodes)[j], sum * BYTES, 0),
      );
    put(tiles, traffic(data, steps, at(value)));
    put(whole, tableTraffic(data));
    fitting(value);
  };
  const [read, written, moved] = Object.values(tiles);
  const [tableRead, tableWritten, tableMoved] = Object.values(whole);
  const told = element(
    "p",
    { class: "cl-tiles-moved" },
    "Bytes moved so far: ",
    moved,
    " (",
    read,
    " read, ",
    written,
    " written). By the whole table: ",
    tableMoved,
    " (",
    tableRead,
    ", ",
    tableWritten,
    "). ",
    fits,
  );
  const atEnd = sizes.map((block) => ({ block, causal: false, step: Infinity }));
  return steady(state, told, atEnd, counting);
}

function render({ model, el }) {
  const data = model.get("data");
  const T = data.query.length,
    S = data.key.length;
  const state = connect(model);
  const all = remember(({ block, causal }) => walk(data, block, causal));
  const result = (value) => all({ block: value.block, causal: value.causal });
  const last = (value) => result(value).steps.length - 1;
  const at = (value) => Math.min(value.step, last(value));

  const step = slider(state, "step", "tile", {
    min: 0,
    max: last,
    describe: (_, value) => `${at(value)} of ${last(value)}`,
  });
  const move = (by, text) => {
    return button(state, text, (value) => ({ step: at(value) + by }), {
      class: by > 0 ? "cl-main" : null,
      draw: (node, value) => {
        node.disabled = at(value) === (by > 0 ? last(value) : 0);
      },
    });
  };
  const sizes = [1, 2, 3, T].filter((size, i, list) => size <= T && list.indexOf(size) === i);
  const controls = element(
    "div",
    { class: "cl-controls" },
    step,
    move(-1, "Back"),
    move(1, "Next tile"),
    choice(state, "block", "block size", sizes),
    toggle(state, "causal", "causal"),
  );

  const cells = data.query.map(() => data.key.map(() => element("td")));
  const names = (name, length) => Array.from({ length }, (_, i) => `${name}${i + 1}`);
  const centred = (text) => element("th", { scope: "col", style: "text-align: center" }, text);
  const grid = element(
    "table",
    { "data-name": "scores" },
    element("caption", {}, "scores (· forgotten, × masked)"),
    headRow(element("td"), names("k", S).map(centred)),
    element(
      "tbody",
      {},
      cells.map((row, i) => tableRow(`q${i + 1}`, row)),
    ),
  );
  state.draw((value) => {
    const { scores, steps } = result(value);
    const now = at(value);
    const inside = (place, [start, stop]) => place >= start && place < stop;
    cells.forEach((row, i) =>
      row.forEach((cell, j) => {
        const met = (s) => inside(i, s.rows) && inside(j, s.columns);
        const hidden = scores[i][j] === -Infinity;
        const current = met(steps[now]);
        delete cell.dataset.value;
        if (hidden) cell.textContent = "×";
        else if (current) write(cell, scores[i][j], 1);
        else cell.textContent = steps.slice(0, now).some(met) ? "·" : "";
        cell.style.outline = current ? "2px solid var(--first)" : "";
      }),
    );
  });

  const columns = ["max", "sum", "blend", "blend / sum", "exact"];
  const running = data.query.map(() => columns.map((name) => element("td", { "data-name": name })));
  const rowNames = data.query.map((_, i) => element("th", { scope: "row" }, `q${i + 1}`));
  const table = element(
    "table",
    { "data-name": "running" },
    element("caption", {}, "what every query holds (▸ at work)"),
    headRow(element("td"), columns.map(columnHead)),
    element(
      "tbody",
      {},
      running.map((row, i) => element("tr", {}, rowNames[i], row)),
    ),
  );
  state.draw((value) => {
    const { steps, exact } = result(value);
    const { rows, held } = steps[at(value)];
    held.forEach(({ largest, total, blend }, i) => {
      const working = i >= rows[0] && i < rows[1];
      rowNames[i].textContent = `${working ? "▸ " : ""}q${i + 1}`;
      rowNames[i].style.fontWeight = working ? "700" : "";
      const numbers = [largest, total, blend, total ? blend / total : NaN, exact[i]];
      numbers.forEach((number, j) => writeOrDash(running[i][j], number));
    });
  });

  const tell = (value) => {
    const { steps, exact } = result(value);
    const now = at(value);
    if (now === 0) return "Nothing has been read yet. Press “Next tile”.";
    const { rows, columns: keys, held } = steps[now];
    const before = steps[now - 1].held;
    const groups = { unseen: [], first: [], stays: [], rises: [] };
    for (let i = rows[0]; i < rows[1]; i++) {
      const [old, now] = [before[i].largest, held[i].largest];
      const risen = old === -Infinity ? "first" : now === old ? "stays" : "rises";
      groups[now === -Infinity ? "unseen" : risen].push(i);
    }
    const names = (list) =>
      list.length > 3 ? `${list.length} queries` : list.map((i) => `q${i + 1}`).join(", ");
    const factors = groups.rises.map((i) => format(held[i].rescale)).join(", ");
    const changes = Object.entries({
      unseen: "no key yet for",
      first: "the first keys for",
      stays: "same maximum for",
      rises: "higher maximum for",
    })
      .filter(([group]) => groups[group].length)
      .map(([group, text]) => `${text} ${names(groups[group])}`);
    if (factors) changes.push(`sum and blend × ${factors}`);
    const end =
      now < steps.length - 1
        ? ""
        : ` The last tile: blend / sum is exact, to ${Math.max(
            ...held.map((query, i) =>
              Math.abs((query.total ? query.blend / query.total : 0) - exact[i]),
            ),
          )
            .toExponential(0)
            .replace("-", "\u2212")}.`;
    return `Tile ${now}: ${span(rows, "query").replace("querys", "queries")}, ${span(keys, "key")}; ${changes.join("; ")}.${end}`;
  };
  const told = sizes.flatMap((size) =>
    [false, true].flatMap((causal) => {
      const value = { block: size, causal };
      return result(value).steps.map((_, step) => tell({ ...value, step }));
    }),
  );
  const say = announce(state, tell, told);
  const scene = stage(state, "Two memories", (root, width) => build(root, width, data, result, at));
  const ended = (value) => at(value) === last(value);
  const moved = (value) => {
    const { read, written } = traffic(data, result(value).steps, at(value));
    return read + written;
  };
  const { read, written } = tableTraffic(data);
  const best = Math.max(...sizes.filter((size) => room(data, size) <= data.capacity));
  const puzzles = goals(state, [
    {
      text: "Go to the end with tiles that move more bytes than the whole table does.",
      reached: (value) => ended(value) && moved(value) > read + written,
    },
    {
      text: "Not causal: go to the end with the fewest bytes moved by tiles that fit.",
      reached: (value) => ended(value) && !value.causal && value.block === best,
    },
  ]);
  const scrolls = { class: "cl-scroll", tabindex: 0, role: "group" }; // on a phone
  frame(
    el,
    "Tiles between two memories",
    controls,
    scene,
    say,
    counter(state, data, result, at, sizes),
    element(
      "div",
      { class: "cl-tiles" },
      element("div", { ...scrolls, "aria-label": "scores", style: "padding: 2px" }, grid),
      element("div", { ...scrolls, "aria-label": "what every query holds" }, table),
    ),
    puzzles,
  );
  return state.close;
}

export default { render };
