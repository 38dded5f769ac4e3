// @ts-check
// Attention weights as squares: how they travel, what is read off them, how they are drawn.

import { drawing } from "./dom.js";
import { label, part } from "./stage.js";

/** Attention weights from book.page.weights.packed_maps: [map][query][key], no key after its query. */
export function unpackMaps({ count, length, uint8 }) {
  const bytes = Uint8Array.from(atob(uint8), (character) => character.charCodeAt(0));
  let at = 0;
  return Array.from({ length: count }, () =>
    Array.from({ length }, (_, i) =>
      Array.from(bytes.subarray(at, (at += i + 1)), (byte) => byte / 255),
    ),
  );
}

/** The mean weight that the queries from `first` on give to the key that is `back` before them. */
export function meanBack(map, back, first) {
  const rows = map.slice(first);
  return rows.reduce((sum, row, i) => sum + row[first + i - back], 0) / rows.length;
}

/** Attention weights [query][key] as a square of `side` pixels, queries downwards: a part with
    `set(rows)` and `light(query)`, which frames a row.
    @param {SVGElement} parent
    @param {number} length
    @param {number} side
    @param {{ title: string, name?: string, first?: Place }} look */
export function weightMap(parent, length, side, { title, name, first }) {
  const cell = side / length;
  const squares = Array.from({ length }, (_, i) =>
    Array.from({ length: i + 1 }, (_, j) =>
      drawing("rect", { class: "cl-tip", x: j * cell, y: i * cell, width: cell, height: cell }),
    ),
  );
  const paper = drawing("rect", { class: "cl-axis", width: side, height: side });
  const row = drawing("rect", {
    class: "cl-edge",
    width: side,
    height: cell,
    style: "stroke-width: 2; fill: none; visibility: hidden",
  });
  const node = drawing(
    "g",
    { class: "cl-attention", "data-name": name },
    paper,
    squares.flat(),
    row,
    label(title, side / 2, -8, "cl-strong"),
  );
  return {
    ...part(parent, node, first),
    set: (rows) =>
      rows.forEach((weights, i) =>
        weights.forEach((weight, j) => {
          squares[i][j].style.opacity = String(weight);
        }),
      ),
    light: (query) => {
      row.setAttribute("y", String(query * cell));
      row.style.visibility = "visible";
    },
  };
}
