// Attention tile by tile: the running maximum, sum and blend of every query, one tile at a time.

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
  let held = query.map(() => ({ largest: -Infinity, total: 0, blend: 0, rescale: NaN }));
  const steps = [{ rows: [0, 0], columns: [0, 0], held }];
  for (const rows of blocks(T, block)) {
    const sight = causal ? Math.max(0, Math.min(S, rows[1] + S - T)) : S;
    for (const columns of blocks(sight, block)) {
      held = held.map((old, i) => {
        if (i < rows[0] || i >= rows[1]) return { ...old, rescale: NaN };
        const tile = scores[i].slice(...columns);
        const largest = Math.max(old.largest, ...tile);
        if (largest === -Infinity) return old; // nothing to attend to yet
        const rescale = Math.exp(old.largest - largest);
        const weights = tile.map((score) => Math.exp(score - largest));
        const total = old.total * rescale + weights.reduce((a, b) => a + b, 0);
        const blend = old.blend * rescale + dot(weights, value.slice(...columns));
        return { largest, total, blend, rescale };
      });
      steps.push({ rows, columns, held });
    }
  }
  const exact = scores.map((row) => dot(softmax(row), value));
  return { scores, steps, exact };
}

const span = ([start, stop], name) =>
  stop - start === 1 ? `${name} ${stop}` : `${name}s ${start + 1} to ${stop}`;

/** A number that is not there yet is a dash. */
function writeOrDash(node, number, digits = 2) {
  write(node, Number.isFinite(number) ? number : 0, digits);
  node.dataset.value = String(number);
  if (!Number.isFinite(number)) node.textContent = "–";
}

function render({ model, el }) {
  const data = model.get("data");
  const T = data.query.length,
    S = data.key.length;
  const state = connect(model);
  const all = remember(({ block, causal }) => walk(data, Number(block), causal));
  const result = (value) => all({ block: value.block, causal: value.causal });
  const last = (value) => result(value).steps.length - 1;
  const at = (value) => Math.min(value.step, last(value));

  const step = slider(state, "step", "tile", {
    min: 0,
    max: last(state.value),
    describe: (_, value) => `${at(value)} of ${last(value)}`,
  });
  const range = step.querySelector("input");
  const move = (by, text) => {
    return button(state, text, (value) => ({ step: at(value) + by }), {
      class: by > 0 ? "cl-main" : null,
      draw: (node, value) => {
        node.disabled = at(value) === (by > 0 ? last(value) : 0);
      },
    });
  };
  state.draw((value) => {
    range.max = last(value);
    range.value = at(value);
  });
  const sizes = [1, 2, 3, T].filter((size, i, list) => size <= T && list.indexOf(size) === i);
  const controls = element(
    "div",
    { class: "cl-controls" },
    step,
    move(-1, "Back"),
    move(1, "Next tile"),
    choice(state, "block", "block size", () => ({ "": sizes.map((size) => [size, size]) })),
    toggle(state, "causal", "causal"),
  );

  const cells = data.query.map(() => data.key.map(() => element("td")));
  const names = (name, length) => Array.from({ length }, (_, i) => `${name}${i + 1}`);
  const heading = (text) => element("th", { scope: "col", style: "white-space: normal" }, text);
  const centred = (text) => element("th", { scope: "col", style: "text-align: center" }, text);
  const grid = element(
    "table",
    { "data-name": "scores" },
    element("caption", {}, "scores: those in memory"),
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
        cell.style.minWidth = "2.75rem";
        cell.style.textAlign = "center";
        cell.style.border = "1px solid var(--line)";
      }),
    );
  });

  const columns = ["rescale", "max", "sum", "blend", "blend / sum", "exact"];
  const running = data.query.map(() => columns.map((name) => element("td", { "data-name": name })));
  const rowNames = data.query.map((_, i) => element("th", { scope: "row" }, `q${i + 1}`));
  const table = element(
    "table",
    { "data-name": "running" },
    element("caption", {}, "what every query holds (▸ at work)"),
    headRow(element("td"), columns.map(heading)),
    element(
      "tbody",
      {},
      running.map((row, i) => element("tr", {}, rowNames[i], row)),
    ),
  );
  state.draw((value) => {
    const { steps, exact } = result(value);
    const { rows, held } = steps[at(value)];
    held.forEach(({ rescale, largest, total, blend }, i) => {
      const working = i >= rows[0] && i < rows[1];
      rowNames[i].textContent = `${working ? "▸ " : ""}q${i + 1}`;
      rowNames[i].style.fontWeight = working ? "700" : "";
      const numbers = [rescale, largest, total, blend, total ? blend / total : NaN, exact[i]];
      numbers.forEach((number, j) => writeOrDash(running[i][j], number));
    });
  });

  const say = announce(state, (value) => {
    const { steps, exact } = result(value);
    const now = at(value);
    if (now === 0) return "Nothing has been read yet. Press “Next tile”.";
    const { rows, columns: keys, held } = steps[now];
    const before = steps[now - 1].held;
    const changes = held.slice(...rows).map((query, i) => {
      const name = `q${rows[0] + i + 1}`,
        old = before[rows[0] + i].largest;
      if (query.largest === -Infinity) return `${name} has seen no key`;
      if (old === -Infinity) return `${name} meets its first keys`;
      if (query.largest === old) return `the maximum of ${name} stays`;
      return `the maximum of ${name} rises, so its sum and blend so far are multiplied by ${format(query.rescale)}`;
    });
    const end =
      now < steps.length - 1
        ? ""
        : ` That was the last tile: blend / sum differs from the exact output by at most ${Math.max(
            ...held.map((query, i) =>
              Math.abs((query.total ? query.blend / query.total : 0) - exact[i]),
            ),
          ).toExponential(0)}.`;
    return `Tile ${now}: ${span(rows, "query").replace("querys", "queries")}, ${span(keys, "key")}; ${changes.join("; ")}.${end}`;
  });
  const legend = element(
    "p",
    { style: "color: var(--quiet); font-size: 0.86rem" },
    "Outlined: the tile at hand. · was seen and thrown away. × may not be seen; a tile of × alone is skipped.",
  );
  frame(
    el,
    "Tiles and the running softmax",
    controls,
    element(
      "div",
      { class: "cl-side" },
      element("div", { class: "cl-scroll", style: "padding: 2px" }, grid),
      element("div", { class: "cl-scroll" }, table),
    ),
    legend,
    say,
  );
  return state.close;
}

export default { render };
