// @ts-check
// The static page's stand-in for the notebook's widget manager.

import { offerAnswers } from "./answers.js";
import { deliver } from "./deliver.js";
import { useStyles } from "./dom.js";
import { rememberChapters } from "./read.js";

/** As much of a widget's model as a figure uses; setting a trait tells the figure at once. */
class StaticModel {
  constructor(state) {
    this.state = state;
    this.listeners = {};
  }
  get(trait) {
    return this.state[trait];
  }
  set(trait, content) {
    this.state[trait] = content;
    for (const listener of this.listeners[`change:${trait}`] ?? []) listener();
  }
  save_changes() {}
  on(event, listener) {
    (this.listeners[event] ??= []).push(listener);
  }
  off(event, listener) {
    this.listeners[event] = (this.listeners[event] ?? []).filter((other) => other !== listener);
  }
}

/** What stands above the fallback of a figure that cannot be drawn. */
function failure(error) {
  const node = document.createElement("p");
  node.setAttribute("role", "alert");
  node.textContent = `This figure cannot be drawn here (${error}). Its numbers at the start:`;
  return node;
}

/** A button and the fallback of a figure whose numbers are fetched on a click, in one box. */
function offer(host, draw) {
  const box = document.createElement("div"),
    shown = document.createElement("div"),
    button = document.createElement("button");
  box.className = "cl";
  button.className = "cl-main";
  button.textContent = host.dataset.later;
  button.addEventListener("click", async () => {
    button.disabled = true;
    host.querySelector("[role=alert]")?.remove();
    try {
      draw(host, await deliver(host.dataset.from));
    } catch (error) {
      button.disabled = false;
      host.prepend(failure(error));
    }
    /** @type {HTMLElement} */ (host.querySelector("input, button"))?.focus();
  });
  box.style.cssText = "display: grid; gap: 0.6rem; justify-items: start";
  shown.className = "cl-scroll";
  shown.style.maxWidth = "100%";
  shown.append(...host.children);
  box.append(button, shown);
  host.append(box);
  useStyles(box);
}

/** Draw every figure of the page; `load` gives the module of a name. */
export function start(load) {
  rememberChapters();
  const packed = []; // what several figures have is written in the first one only (live.py)
  const whole = (_, value) => {
    if (value?.once === undefined) return value;
    value.float16 ??= packed[value.once];
    packed[value.once] = value.float16;
    return value;
  };
  /** @type {NodeListOf<HTMLElement>} */
  const hosts = document.querySelectorAll(".companion-live[data-figure]");
  const draw = (host, text) => {
    const el = document.createElement("div");
    try {
      const state = JSON.parse(text, whole);
      load(`${host.dataset.figure}.js`).render({ model: new StaticModel(state), el });
    } catch (error) {
      console.error(`live figure ${host.dataset.figure}:`, error);
      host.prepend(failure(error));
      return;
    }
    host.replaceChildren(el);
  };
  for (const host of hosts) {
    if (host.dataset.from) offer(host, draw);
    else draw(host, host.querySelector("script").textContent);
  }
  offerAnswers();
}
