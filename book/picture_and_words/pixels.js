// Handwritten digits of 8 x 8 pixels.

import { drawing } from "../page/kit/dom.js";

const SIDE = 8;

/** A digit as the picture has it, light on black: `pixels` from 0 to 1, `ink` as red, green and blue.
    Its middle is at (x, y). */
export function digitAt(pixels, { x, y, side, ink = [1, 1, 1], ...look }) {
  const cell = side / SIDE;
  const fill = `rgb(${ink.map((part) => 255 * part).join(" ")})`;
  const dots = pixels.flatMap((dark, i) =>
    dark > 0
      ? [
          drawing("rect", {
            x: (i % SIDE) * cell,
            y: Math.floor(i / SIDE) * cell,
            width: cell + 0.3,
            height: cell + 0.3,
            fill,
            "fill-opacity": dark,
          }),
        ]
      : [],
  );
  const paper = drawing("rect", { width: side, height: side, rx: 2, fill: "#000" });
  return drawing(
    "g",
    { transform: `translate(${x - side / 2} ${y - side / 2})`, ...look },
    paper,
    dots,
  );
}
