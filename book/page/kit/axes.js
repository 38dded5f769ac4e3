// @ts-check
// Axes of a drawing: where numbers stand in it, and the lines and texts that say so.

import { drawing } from "./dom.js";
import { label } from "./stage.js";

/** A function that takes the numbers from `first` to `last` to the places from `low` to `high`; with
    `log`, equal factors are equally far apart.
    @param {number[]} ends
    @param {number[]} places
    @returns {(number: number) => number} */
export function scale([first, last], [low, high], log = false) {
  const by = log ? Math.log : (number) => number;
  return (number) => low + ((by(number) - by(first)) / (by(last) - by(first))) * (high - low);
}

/** Draw two axes into a box { left, right, top, bottom }, and get their scales { x, y }. Each axis is
    { first, last, log, ticks, text, gap }: `ticks` are the numbers that get a text, text(number), `gap`
    pixels from the box. Every tick of `y` has a line across the box; those of `x` have one where `lines`.
    @param {SVGElement} root
    @param {{ left: number, right: number, top: number, bottom: number }} box
    @param {{ x: Axis & { lines?: boolean }, y: Axis }} scales */
export function axes(root, { left, right, top, bottom }, { x, y }) {
  const plain = (number) => String(number);
  const across = scale([x.first, x.last], [left, right], x.log),
    up = scale([y.first, y.last], [bottom, top], y.log);
  for (const tick of y.ticks ?? []) {
    const text = (y.text ?? plain)(tick);
    root.append(
      drawing("path", { class: "cl-axis", d: `M${left} ${up(tick)}H${right}` }),
      label(text, left - (y.gap ?? 8), up(tick) + 4, "cl-quiet cl-end"),
    );
  }
  for (const tick of x.ticks ?? []) {
    const text = (x.text ?? plain)(tick);
    if (x.lines)
      root.append(drawing("path", { class: "cl-axis", d: `M${across(tick)} ${top}V${bottom}` }));
    root.append(label(text, across(tick), bottom + (x.gap ?? 17), "cl-quiet"));
  }
  return { x: across, y: up };
}
