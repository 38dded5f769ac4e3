// @ts-check
// Parts of a scene: vectors and matrices as cells.

import { css, drawing, fill, write } from "./dom.js";
import { clamp } from "./numerics.js";
import { label, part } from "./stage.js";

css`
  .cl-rule {
    opacity: 0.4;
  }
`;

/** As many decimals as a number in a cell needs: none, or two. */
export const decimals = (number) => (Math.abs(number - Math.round(number)) < 1e-9 ? 0 : 2);

/** A row of cells with numbers; the larger a number (up to `most`), the stronger its tint.
    @param {number[]} values
    @param {Kind} kind
    @param {{ cell: number, height: number, most: number }} size */
export function cellRow(values, kind, { cell, height, most }) {
  const at = (i) => ({ x: i * cell, width: cell, height });
  const tints = values.map((_, i) => drawing("rect", { class: "cl-tint", ...at(i) }));
  const rules = values
    .slice(1)
    .map((_, i) => drawing("path", { class: "cl-rule", d: `M${(i + 1) * cell} 0v${height}` }));
  const size = { width: values.length * cell, height, rx: 3 };
  const texts = values.map((_, i) => drawing("text", { x: (i + 0.5) * cell, y: height / 2 + 4.5 }));
  const node = drawing(
    "g",
    { class: `cl-${kind}` },
    drawing("rect", { class: "cl-paper", ...size }),
    tints,
    rules,
    drawing("rect", { class: "cl-edge", ...size }),
    texts,
  );
  const set = (values) =>
    values.forEach((value, i) => {
      write(texts[i], value, decimals(value));
      tints[i].style.opacity = String(0.42 * clamp(Math.abs(value) / most, 0, 1));
    });
  set(values);
  return { node, set };
}

/** A vector: a part with `set(values)`. `name` is the data-name of its node, for tests.
    @param {SVGElement} parent
    @param {number[]} values
    @param {Kind} kind
    @param {{ cell?: number, height?: number, most?: number, name?: string, first?: Place }} [look] */
export function strip(
  parent,
  values,
  kind,
  { cell = 40, height = 26, most = 2, name, first } = {},
) {
  const { node, set } = cellRow(values, kind, { cell, height, most });
  fill(node, { "data-name": name }, []);
  return { ...part(parent, node, first), set };
}

/** A vector of too many numbers to be read: cells alone. A part with `set(values, shade)`: a cell keeps
    its number and is as dark as shade(number), from 0 to 1.
    @param {SVGElement} parent
    @param {number} count
    @param {Kind} kind
    @param {{ cell: number, height?: number, name?: string, first?: Place }} look */
export function ribbon(parent, count, kind, { cell, height = 12, name, first }) {
  const at = (i) => ({ x: i * cell, width: cell, height });
  const cells = Array.from({ length: count }, (_, i) =>
    drawing("rect", { class: "cl-tint", ...at(i) }),
  );
  const size = { width: count * cell, height };
  const node = drawing(
    "g",
    { class: `cl-${kind}`, "data-name": name },
    drawing("rect", { class: "cl-paper", ...size }),
    cells,
    drawing("rect", { class: "cl-edge", ...size }),
  );
  const set = (values, shade) =>
    cells.forEach((rect, i) => {
      rect.dataset.value = String(values[i]);
      rect.style.opacity = String(clamp(shade(values[i]), 0, 1));
    });
  return { ...part(parent, node, first), set };
}

/** A matrix under its title and shape: a part with `set(rows)`, and `light(i)`, which brings one row
    forward (null: all of them).
    @param {SVGElement} parent
    @param {number[][]} rows
    @param {Kind} kind
    @param {{ title: string, cell?: number, height?: number, most?: number, name?: string, first?: Place }} look */
export function matrix(
  parent,
  rows,
  kind,
  { title, cell = 40, height = 26, most = 2, name, first },
) {
  const lines = rows.map((row) => cellRow(row, kind, { cell, height, most }));
  lines.forEach(({ node }, i) => node.setAttribute("transform", `translate(0 ${i * height})`));
  const heading = `${title} ${rows.length} × ${rows[0].length}`;
  const node = drawing(
    "g",
    { class: `cl-${kind}`, "data-name": name },
    lines.map((line) => line.node),
    label(heading, (rows[0].length * cell) / 2, -9, "cl-own"),
  );
  return {
    ...part(parent, node, first),
    set: (rows) => rows.forEach((row, i) => lines[i].set(row)),
    light(row) {
      lines.forEach(({ node }, i) => {
        node.style.opacity = row === null || row === i ? "1" : "0.4";
      });
      if (row !== null) lines[row].node.parentNode.append(lines[row].node); // its edge on top
    },
  };
}
