// @ts-check
// A sentence, and arcs from one of its words to the others, as thick as their weights.

import { css, drawing, element, fill, steady, write } from "./dom.js";

css`
  .cl-sentence {
    position: relative;
    overflow: clip visible;
  }
  .cl-sentence > svg {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
    pointer-events: none;
  }
  .cl-sentence path {
    fill: none;
    stroke: var(--attention);
    stroke-linecap: round;
    transition:
      stroke-width 0.35s,
      opacity 0.35s;
  }
  .cl-sentence ol {
    display: flex;
    flex-wrap: wrap;
    gap: 2.6rem 0.1rem;
    list-style: none;
    margin: 0;
    padding: 3.4rem 0 0.8rem;
  }
  .cl-sentence li {
    display: grid;
    justify-items: center;
    margin: 0;
    min-width: 2.4rem;
  }
  .cl-sentence .cl-word {
    border: 0;
    border-radius: 0.3rem;
    background: none;
    font-size: 1.05rem;
    min-height: 2rem;
    padding: 0.15rem 0.25rem;
  }
  .cl-sentence .cl-from .cl-word {
    background: var(--ink);
    color: var(--ground);
  }
  .cl-sentence .cl-most .cl-word {
    font-weight: 700;
  }
  .cl-sentence [aria-pressed="true"] {
    outline: 1.5px dashed var(--quiet);
    outline-offset: -2px;
    text-decoration: line-through;
  }
  .cl-sentence .cl-number {
    color: var(--quiet);
    font-size: 0.8rem;
  }
  .cl-sentence .cl-most .cl-number {
    color: var(--attention-word);
    font-weight: 700;
  }
  @media (prefers-reduced-motion: reduce) {
    .cl-sentence path {
      transition: none;
    }
  }
`;

/** @param {State} state
    @param {(value: Value) => { words: string[], from: number, weights: number[], out?: number[] }} see
      the words, the place of the one that looks, what it gives to each, and the words crossed out
    @param {(word: number) => void} [pick] makes buttons of the words
    @param {Value[]} [others] values of which the longest sentence is, which keeps its room */
export function arcs(state, see, pick, others = []) {
  const svg = drawing("svg", { "aria-hidden": true }),
    list = element("ol", { "aria-label": "the sentence, with the weight of every word" });
  const box = element("div", { class: "cl-sentence" }, svg, list);
  let words = [];
  const build = (next) => {
    words = next;
    const name = pick ? "button" : "span";
    list.replaceChildren(
      ...words.map((text, i) => {
        const button = pick && { type: "button", "data-lm-suppress-shortcuts": true };
        const word = element(name, { class: "cl-word", ...button }, text);
        if (pick) word.addEventListener("click", () => pick(i));
        return element("li", {}, word, element("span", { class: "cl-number" }));
      }),
    );
    svg.replaceChildren(...words.map(() => drawing("path")));
  };
  const draw = (value) => {
    const { words: next, from, weights, out = [] } = see(value);
    if (next.length !== words.length) build(next);
    const most = weights.indexOf(Math.max(...weights));
    const items = [...list.children];
    items.forEach((item, i) => {
      const [word, number] = /** @type {HTMLElement[]} */ ([...item.children]);
      word.textContent = next[i];
      if (pick) word.setAttribute("aria-pressed", String(out.includes(i)));
      write(number, weights[i]);
      item.className = `${i === from ? "cl-from" : ""} ${i === most ? "cl-most" : ""}`;
    });
    const home = box.getBoundingClientRect(),
      scale = box.offsetWidth / home.width || 1, // of a page that is magnified
      places = items.map((item) => placeOf(item, home, scale));
    items.forEach((_, i) => {
      fill(
        svg.children[i],
        {
          d: i === from ? "M0 0" : curve(places[from], places[i]),
          "stroke-width": (1 + 9 * weights[i]).toFixed(2),
          opacity: weights[i] < 0.005 ? 0 : (0.25 + 0.7 * weights[i]).toFixed(2),
        },
        [],
      );
    });
  };
  steady(state, box, [state.value, ...others], draw);
  const frame = requestAnimationFrame(() => draw(state.value)); // once the words have their places
  state.atEnd(() => cancelAnimationFrame(frame));
  return box;
}

/** Where a word stands, seen from the box.
    @param {Element} item
    @param {DOMRect} home
    @param {number} scale */
function placeOf(item, home, scale) {
  const { left, width, top, bottom } = item.getBoundingClientRect();
  return {
    x: (left + width / 2 - home.left) * scale,
    top: (top - home.top) * scale + 2,
    bottom: (bottom - home.top) * scale,
  };
}

/** Over the words of a line, or from one line to another.
    @param {{ x: number, top: number, bottom: number }} from
    @param {{ x: number, top: number, bottom: number }} to */
function curve(from, to) {
  const higher = to.bottom < from.top,
    lower = to.top > from.bottom;
  const start = lower ? from.bottom : from.top,
    end = higher ? to.bottom : to.top;
  const over = Math.min(start, end) - Math.min(46, 18 + Math.abs(to.x - from.x) / 9);
  const [first, second] = higher || lower ? [(start + end) / 2, (start + end) / 2] : [over, over];
  return `M${from.x} ${start}C${from.x} ${first} ${to.x} ${second} ${to.x} ${end}`;
}
