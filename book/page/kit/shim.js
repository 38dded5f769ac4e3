// The static page's stand-in for the notebook's widget manager. `figures` is filled by the script
// around this text (book.page.live.bundle).

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

function start() {
  const packed = []; // what several figures have is written in the first one only (live.py)
  const whole = (_, value) => {
    if (value?.once === undefined) return value;
    value.float16 ??= packed[value.once];
    packed[value.once] = value.float16;
    return value;
  };
  for (const host of document.querySelectorAll(".companion-live[data-figure]")) {
    const state = JSON.parse(host.querySelector("script").textContent, whole);
    const el = document.createElement("div");
    try {
      figures[host.dataset.figure].render({ model: new StaticModel(state), el });
    } catch (error) {
      console.error(`live figure ${host.dataset.figure}:`, error); // its fallback table stays
      continue;
    }
    host.replaceChildren(el);
  }
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
else start();
