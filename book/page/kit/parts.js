// @ts-check
// Parts of a scene: words, and arrows between things.

import { css, drawing, fill } from "./dom.js";
import { label, part } from "./stage.js";

css`
  .cl-wire {
    cursor: pointer;
  }
  .cl-wire[aria-disabled="true"] {
    cursor: auto;
  }
  .cl-wire .cl-hit {
    stroke: transparent;
    stroke-width: 26;
    fill: none;
  }
  .cl-wire:focus {
    outline: none;
  }
  .cl-wire:focus-visible rect {
    stroke: var(--first);
    stroke-width: 3.5;
  }
  .cl-wire rect {
    fill: var(--ground);
    stroke: var(--tone);
    stroke-width: 1.5;
  }
  .cl-wire[aria-pressed="true"] .cl-shaft {
    stroke-dasharray: 3 7;
    opacity: 0.5;
  }
  .cl-wire[aria-pressed="true"] text {
    text-decoration: line-through;
  }
`;

/** A wire that can be cut: a path `d` with a plate at its middle { x, y }, which is a button.
    @param {Kind} kind
    @param {string} name what it leads to
    @param {{ d: string, x: number, y: number, text: string, wide: number }} look
    @param {() => void} turn what a click does
    @returns {SVGElement} */
export function wire(kind, name, { d, x, y, text, wide }, turn) {
  const node = drawing(
    "g",
    {
      class: `cl-wire cl-${kind}`,
      role: "button",
      tabindex: 0,
      "aria-label": `cut the wire to the ${name}`,
    },
    drawing("path", { class: "cl-hit", d }),
    drawing("path", { class: "cl-shaft", "stroke-width": 5, d }),
    drawing("rect", { x: x - wide / 2, y: y - 13, width: wide, height: 26, rx: 13 }),
    label(text, x, y + 4.5, "cl-own cl-strong"),
  );
  node.addEventListener("click", turn);
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    turn();
  });
  return node;
}

/** What is cut, as "qk", once the wire of a letter is cut or mended.
    @param {string} cut
    @param {string} letter */
export const cutOrMended = (cut, letter) =>
  [..."qkv"].filter((other) => cut.includes(other) !== (other === letter)).join("");

/** Words in a row, the middle of each at its centre: parts. With `pick(i)` they are buttons, and
    `press(i)` says which one is pressed. `wide(word)` is how wide a word's token is.
    @param {SVGElement} parent
    @param {string[]} words
    @param {number[]} centres
    @param {{ y?: number, height?: number, pick?: (i: number) => void, name?: string,
     wide?: (word: string) => number }} [look]
    @returns {Part[] & { press: (pressed: number) => void }} */
export function tokenRow(
  parent,
  words,
  centres,
  { y = 0, height = 32, pick, name = "word", wide = (word) => word.length * 8.4 + 24 } = {},
) {
  const tokens = words.map((word, i) => {
    const width = wide(word);
    const act = pick && {
      role: "button",
      tabindex: 0,
      "aria-label": `${name} ${word}`,
      "aria-pressed": false,
    };
    const node = drawing(
      "g",
      { class: "cl-token", ...act },
      drawing("rect", { x: -width / 2, width, height, rx: height / 2 }),
      label(word, 0, height / 2 + 5),
    );
    if (pick) {
      node.addEventListener("click", () => pick(i));
      node.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        pick(i);
      });
    }
    return part(parent, node, { x: centres[i], y });
  });
  const press = (pressed) =>
    tokens.forEach(({ node }, i) => {
      node.classList.toggle("cl-pressed", i === pressed);
      if (pick) node.setAttribute("aria-pressed", String(i === pressed));
    });
  return Object.assign(tokens, { press });
}

/** An arrow from (x1, y1) to (x2, y2), `w` pixels thick: a part with these five numbers. With `bend`
    it leaves and arrives upright, with `head: false` it has no tip.
    @param {SVGElement} parent
    @param {Kind} kind
    @param {Place} [first] */
export function arrow(parent, kind, first, { bend = false, head = true } = {}) {
  const shaft = drawing("path", { class: "cl-shaft" }),
    tip = drawing("path", { class: "cl-tip" });
  const node = drawing("g", { class: `cl-${kind}` }, shaft, tip);
  const start = { x1: 0, y1: 0, x2: 0, y2: 0, w: 1.5, ...first };
  return part(parent, node, start, ({ x1, y1, x2, y2, w }) => {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [ux, uy] = bend ? [0, Math.sign(y2 - y1) || 1] : [(x2 - x1) / length, (y2 - y1) / length];
    const back = head ? Math.min(length, 6 + 0.45 * w) : 0,
      side = w / 2 + 3.5;
    const bx = x2 - ux * back,
      by = y2 - uy * back,
      middle = (y1 + by) / 2;
    const curve = `M${x1} ${y1}C${x1} ${middle} ${bx} ${middle} ${bx} ${by}`;
    fill(shaft, { "stroke-width": w, d: bend ? curve : `M${x1} ${y1}L${bx} ${by}` }, []);
    const corners = `L${bx - uy * side} ${by + ux * side}L${bx + uy * side} ${by - ux * side}Z`;
    tip.setAttribute("d", head ? `M${x2} ${y2}${corners}` : "");
  });
}
