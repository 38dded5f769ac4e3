// Elements, and what stands in them. A figure is `export default { render }`; render({ model, el }) draws
// into `el` from model.get("data"), and keeps what the reader sets in model.get("value").

import { clamp } from "./numerics.js";
import { STYLE } from "./style.js";

function useStyle() {
  if (document.companionStyle) return;
  document.companionStyle = new CSSStyleSheet();
  document.companionStyle.replaceSync(STYLE);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, document.companionStyle];
}

export function fill(node, attributes, children) {
  for (const [name, content] of Object.entries(attributes ?? {})) {
    if (content !== null && content !== undefined && content !== false) {
      node.setAttribute(name, content === true ? "" : content);
    }
  }
  node.append(...children.flat().filter((child) => child !== null));
  return node;
}

export const element = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

export const drawing = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** Replace what an <svg> shows; the title is what a screen reader says of it. */
export function paint(svg, width, height, title, parts) {
  fill(svg, { role: "img", viewBox: `0 0 ${width} ${height}`, width, height }, []);
  svg.replaceChildren(drawing("title", {}, title), ...parts);
}

/** "−0.50": as many decimals as asked for, a real minus sign, no minus zero. */
export function format(number, digits = 2) {
  const text = number.toFixed(digits);
  return /^-[0.]*$/.test(text) ? text.slice(1) : text.replace("-", "\u2212");
}

/** Show a number, and keep it in full precision beside the text. */
export function write(node, number, digits = 2) {
  node.textContent = format(number, digits);
  node.dataset.value = String(number);
  return node;
}

/** A number that is not there yet is a dash. */
export function writeOrDash(node, number, digits = 2) {
  write(node, Number.isFinite(number) ? number : 0, digits);
  node.dataset.value = String(number);
  if (!Number.isFinite(number)) node.textContent = "–";
}

/** The figure's frame: a titled group, filled with the given parts. */
export function frame(el, title, ...parts) {
  useStyle();
  const box = element("div", { class: "cl", role: "group", "aria-label": title });
  box.append(element("p", { class: "cl-title" }, title), ...parts);
  for (const control of box.querySelectorAll("input, select, button")) {
    control.dataset.lmSuppressShortcuts = true; // JupyterLab takes arrow keys for its own, otherwise
  }
  el.replaceChildren(box);
}

// ---------------------------------------------------------------- parts of a figure

/** Nodes of a table: its column headings, and a row under its heading. */
export const headRow = (...cells) => element("thead", {}, element("tr", {}, ...cells));
export const columnHead = (text) => element("th", { scope: "col" }, text);
export const tableRow = (heading, ...cells) =>
  element("tr", {}, element("th", { scope: "row" }, heading), ...cells);

/** A bar that fills its place by a share from 0 to 1; the number stands beside it. */
export function shareBar(share, attributes) {
  const bar = element("i", attributes);
  bar.style.setProperty("--w", share);
  return bar;
}

export const longestOf = (texts) => texts.reduce((a, b) => (b.length > a.length ? b : a));

/** The sentence under the figure, which a screen reader speaks after every change. So that nothing below
    moves, it has the room of the longest of `others` (what it may say), or of what it has said. */
export function announce(state, sentence, others = []) {
  const output = element("output", { class: "cl-say", "aria-live": "polite" }),
    room = element("p", { "aria-hidden": "true" });
  const hold = (text) => {
    if (text.length > room.textContent.length) room.textContent = text;
  };
  others.forEach(hold);
  state.draw((value) => {
    output.textContent = sentence(value);
    hold(output.textContent);
  });
  return element("div", { class: "cl-captions" }, output, room);
}

/** A table of numbers; `cells(value)` gives the matrix, `heat` colours the cells from 0 to 1. */
export function matrixTable(
  state,
  caption,
  rows,
  columns,
  cells,
  { heat = false, digits = 2, name } = {},
) {
  const shape = cells(state.value);
  const nodes = shape.map((row) =>
    row.map(() => element("td", { class: heat ? "cl-heat" : null })),
  );
  state.draw((value) =>
    cells(value).forEach((row, i) =>
      row.forEach((number, j) => {
        write(nodes[i][j], number, digits);
        nodes[i][j].style.setProperty("--w", clamp(number, 0, 1));
      }),
    ),
  );
  return element(
    "table",
    { "data-name": name },
    element("caption", {}, caption),
    headRow(element("td"), columns.map(columnHead)),
    element(
      "tbody",
      {},
      nodes.map((row, i) => tableRow(rows[i], row)),
    ),
  );
}

/** Texts with a bar and a number; `rows(value)` gives [[text, share, what the number's node keeps]]. */
export function answerList(state, name, rows, digits = 3) {
  const box = element("div", { class: "cl-answers", "data-name": name });
  state.draw((value) =>
    box.replaceChildren(
      ...rows(value).flatMap(([text, share, data]) => {
        const number = write(element("span"), share, digits);
        Object.assign(number.dataset, data);
        return [
          text instanceof Element ? text : element("span", {}, text),
          shareBar(Math.max(0, share), { "aria-hidden": "true" }),
          number,
        ];
      }),
    ),
  );
  return box;
}
