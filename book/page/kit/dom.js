// Elements, what stands in them, and the room that they keep. A figure is `export default { render }`;
// render({ model, el }) draws into `el` from model.get("data"), and keeps what the reader sets in
// model.get("value").

import { STYLE } from "./style.js";

const sheets = [STYLE];

/** The looks of what a module draws, inside .cl; they are the page's when a figure is framed.
    @param {TemplateStringsArray} strings
    @param {string[]} values */
export const css = (strings, ...values) =>
  sheets.push(`.cl:not(#_) {${String.raw(strings, ...values)}}`);

export function useStyles(el) {
  const inside = el.getRootNode();
  const root = inside instanceof ShadowRoot ? inside : document;
  root.companionSheets ??= new Set();
  for (const text of sheets.filter((text) => !root.companionSheets.has(text))) {
    root.companionSheets.add(text);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  }
}

/** @template {Element} N
    @param {N} node
    @param {Attributes} attributes
    @param {Child[]} children */
export function fill(node, attributes, children) {
  for (const [name, content] of Object.entries(attributes ?? {})) {
    if (content !== null && content !== undefined && content !== false) {
      node.setAttribute(name, content === true ? "" : content);
    }
  }
  node.append(...children.flat().filter((child) => child !== null));
  return node;
}

/** @template {keyof HTMLElementTagNameMap} T
    @param {T} tag
    @param {Attributes} [attributes]
    @param {Child[]} children
    @returns {HTMLElementTagNameMap[T]} */
export const element = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

/** @template {keyof SVGElementTagNameMap} T
    @param {T} tag
    @param {Attributes} [attributes]
    @param {Child[]} children
    @returns {SVGElementTagNameMap[T]} */
export const drawing = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** Replace what an <svg> shows; the title is what a screen reader says of it.
    @param {SVGElement} svg
    @param {number} width
    @param {number} height
    @param {string} title
    @param {SVGElement[]} parts */
export function paint(svg, width, height, title, parts) {
  fill(svg, { role: "img", viewBox: `0 0 ${width} ${height}`, width, height }, []);
  svg.replaceChildren(drawing("title", {}, title), ...parts);
}

/** "−0.50": as many decimals as asked for, a real minus sign, no minus zero.
    @param {number} number */
export function format(number, digits = 2) {
  const text = number.toFixed(digits);
  return /^-[0.]*$/.test(text) ? text.slice(1) : text.replace("-", "\u2212");
}

/** Show a number, and keep it in full precision beside the text.
    @template {HTMLElement | SVGElement} N
    @param {N} node
    @param {number} number */
export function write(node, number, digits = 2) {
  node.textContent = format(number, digits);
  node.dataset.value = String(number);
  return node;
}

/** A number that is not there yet is a dash.
    @param {HTMLElement | SVGElement} node
    @param {number} number */
export function writeOrDash(node, number, digits = 2) {
  write(node, Number.isFinite(number) ? number : 0, digits);
  node.dataset.value = String(number);
  if (!Number.isFinite(number)) node.textContent = "–";
}

/** @param {string[]} texts */
export const longestOf = (texts) => texts.reduce((a, b) => (b.length > a.length ? b : a));

/** The figure's frame: a titled group, filled with the given parts.
    @param {HTMLElement} el
    @param {string} title
    @param {(Node | string)[]} parts */
export function frame(el, title, ...parts) {
  useStyles(el);
  const box = element("div", { class: "cl", role: "group", "aria-label": title });
  box.append(element("p", { class: "cl-title" }, title), ...parts);
  for (const control of box.querySelectorAll("input, select, textarea, button")) {
    control.dataset.lmSuppressShortcuts = true; // JupyterLab takes arrow keys for its own, otherwise
  }
  el.replaceChildren(box);
}

/** What gives a caption the room of the highest that it may have, so that nothing below it moves: call it
    with each. Which is the highest depends on the font, so all stay that are nearly as long as the
    longest, one of each length.
    @param {HTMLElement} captions */
export function roomIn(captions) {
  /** @type {Set<number>} */
  const lengths = new Set();
  /** @param {any[]} parts */
  return (...parts) => {
    const caption = element("p", { "aria-hidden": "true" }, parts),
      { length } = caption.textContent;
    if (lengths.has(length) || length < 0.85 * Math.max(0, ...lengths)) return;
    lengths.add(length);
    captions.append(caption);
  };
}

/** The sentence under the figure, which a screen reader speaks after every change. So that nothing below
    moves, it has the room of the highest of `others` (what it may say), or of what it has said.
    @param {State} state
    @param {(value: Value) => string} sentence
    @param {string[]} [others] */
export function announce(state, sentence, others = []) {
  const output = element("output", { class: "cl-say", "aria-live": "polite" }),
    captions = element("div", { class: "cl-captions" }, output),
    hold = roomIn(captions);
  others.forEach((other) => hold(other));
  state.draw((value) => {
    const said = sentence(value);
    if (said === output.textContent) return; // not to be spoken again
    output.textContent = said;
    hold(said);
  });
  return captions;
}

/** Keep a node as high as the highest thing that `draw(value)` puts into it for any of `values`, so that
    what stands below stays where it is.
    @template {HTMLElement} N
    @param {State} state
    @param {N} node
    @param {Value[]} values
    @param {(value: Value) => void} draw */
export function steady(state, node, values, draw) {
  let measured = 0;
  state.drawWide(node, (value, width) => {
    if (width !== measured) {
      measured = width;
      node.style.minHeight = "";
      const heights = values.map((other) => {
        draw(other);
        return node.offsetHeight;
      });
      node.style.minHeight = `${Math.max(...heights)}px`;
    }
    draw(value);
  });
  return node;
}
