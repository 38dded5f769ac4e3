// What the reader sets, and the controls that set it.

import { element, format } from "./dom.js";

/** What the reader sets: `state.value`, `state.set({...})`; functions given to `state.draw` run now
    and after every change, whether it comes from a control or from Python. Those given to
    `state.drawWide(node, draw)` get the width of the node as well, and run when that changes; those
    given to `state.atEnd` when the figure is taken away. */
export function connect(model) {
  const draws = [],
    ends = [];
  const redraw = () => draws.forEach((draw) => draw(state.value));
  const state = {
    get value() {
      return model.get("value");
    },
    set(changes) {
      model.set("value", { ...model.get("value"), ...changes });
      model.save_changes();
    },
    draw(...functions) {
      for (const draw of functions) {
        draws.push(draw);
        draw(state.value);
      }
    },
    drawWide(node, draw) {
      let width = 640; // until the node is laid out
      state.draw((value) => draw(value, width));
      const observer = new ResizeObserver(([entry]) => {
        const { width: now } = entry.contentRect;
        if (now === 0 || now === width) return; // hidden, or only its height has changed
        width = now;
        draw(state.value, width);
      });
      observer.observe(node);
      ends.push(() => observer.disconnect());
    },
    atEnd(act) {
      ends.push(act);
    },
    close() {
      model.off("change:value", redraw);
      ends.forEach((act) => act());
    },
  };
  model.on("change:value", redraw);
  return state;
}

/** A function that computes again only when its argument has changed: many parts draw from one result. */
export function remember(compute) {
  let key, result;
  return (value) => {
    const now = JSON.stringify(value);
    if (now !== key) [key, result] = [now, compute(value)];
    return result;
  };
}

/** A button; `act(value)` gives the changes of the state, `draw(node, value)` follows it. */
export function button(state, text, act, { draw = () => {}, ...attributes } = {}) {
  const node = element("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", () => state.set(act(state.value)));
  state.draw((value) => draw(node, value));
  return node;
}

/** A labelled range input; `describe(number, value)` is the text beside the label. */
export function slider(
  state,
  key,
  label,
  { min, max, step = 1, describe = (number) => format(number, 0) },
) {
  const shown = element("b");
  const input = element("input", { type: "range", min, max, step, name: key });
  input.addEventListener("input", () => state.set({ [key]: input.valueAsNumber }));
  state.draw((value) => {
    input.value = value[key];
    shown.textContent = describe(value[key], value);
    input.setAttribute("aria-valuetext", shown.textContent);
  });
  return element(
    "label",
    { class: "cl-control cl-wide" },
    element("span", {}, label, " ", shown),
    input,
  );
}

/** How the next word is drawn: temperature, and two cuts; a top-k of `noCut` leaves every word. */
export const drawingSliders = (state, noCut) => [
  slider(state, "temperature", "temperature", {
    min: 0,
    max: 2.5,
    step: 0.1,
    describe: (number) => (number ? format(number, 1) : "0, greedy"),
  }),
  slider(state, "top_k", "top-k", {
    min: 1,
    max: noCut,
    describe: (number) => (number < noCut ? `the best ${format(number, 0)}` : "no cut"),
  }),
  slider(state, "top_p", "top-p", {
    min: 0.05,
    max: 1,
    step: 0.05,
    describe: (number) => (number < 1 ? format(number) : "no cut"),
  }),
];

/** A labelled select. `groups(value)` gives {group: [[option, text], ...]}; group "" stands outside. */
export function choice(
  state,
  key,
  label,
  groups,
  { disabled = () => false, change = (option) => ({ [key]: option }) } = {},
) {
  const select = element("select", { name: key });
  let shown = "";
  select.addEventListener("change", () => state.set(change(select.value, state.value)));
  state.draw((value) => {
    const offered = groups(value);
    if (JSON.stringify(offered) !== shown) {
      shown = JSON.stringify(offered);
      const options = (list) =>
        list.map(([option, text]) => element("option", { value: option }, text));
      select.replaceChildren(
        ...Object.entries(offered).flatMap(([group, list]) =>
          group === "" ? options(list) : [element("optgroup", { label: group }, options(list))],
        ),
      );
    }
    select.value = value[key];
    select.disabled = disabled(value);
  });
  return element("label", { class: "cl-control" }, label, select);
}

/** Options of a choice that say what they are. */
export const sameText = (words) => words.map((word) => [word, word]);

/** A labelled check box. */
export function toggle(state, key, label) {
  const input = element("input", { type: "checkbox", name: key });
  input.addEventListener("change", () => state.set({ [key]: input.checked }));
  state.draw((value) => {
    input.checked = value[key];
  });
  return element("label", { class: "cl-control cl-inline" }, input, label);
}

/** Radio buttons that look like tabs: options [[option, text], ...]. */
export function tabs(state, key, label, options) {
  const name = `${key}-${(connect.count = (connect.count ?? 0) + 1)}`;
  const inputs = options.map(([option]) =>
    element("input", { type: "radio", name, value: option }),
  );
  inputs.forEach((input) =>
    input.addEventListener("change", () => state.set({ [key]: input.value })),
  );
  state.draw((value) =>
    inputs.forEach((input) => {
      input.checked = input.value === value[key];
    }),
  );
  return element(
    "fieldset",
    { class: "cl-tabs" },
    element("legend", {}, label),
    options.map(([, text], i) => element("label", {}, inputs[i], text)),
  );
}

/** The words of a text, small letters without marks. */
export const wordsOf = (text) =>
  text
    .toLowerCase()
    .replace(/[.,!?]/g, " ")
    .split(/\s+/)
    .filter(Boolean);

/** A line for the reader's own words, and what is wrong with them: { input, alert }, both to be placed.
    `complaint(text)` is "" where nothing is; `change(text, value)` gives the changes of the state, or
    null while what was there still counts. */
export function textInput(state, key, { change, complaint, ...attributes }) {
  const input = element("input", {
    type: "text",
    name: key,
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    ...attributes,
  });
  const alert = element("p", { role: "alert" });
  const judge = () => {
    alert.textContent = complaint(input.value);
    alert.hidden = alert.textContent === "";
    input.setAttribute("aria-invalid", !alert.hidden);
  };
  input.addEventListener("input", () => {
    judge();
    const changes = change(input.value, state.value);
    if (changes) state.set(changes);
  });
  state.draw((value) => {
    if (input.matches(":focus")) return; // somebody writes
    input.value = value[key];
    judge();
  });
  return { input, alert };
}

/** The number of letters to change, insert or drop on the way from one word to the other. */
function editDistance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] !== b[j - 1])));
    }
    row = next;
  }
  return row[b.length];
}

/** What is wrong with a sentence for a translator, or "". */
export function untranslatable({ english, longest_source: longest }, text) {
  const sentence = wordsOf(text);
  if (sentence.length === 0) return "Write a sentence of words that the model knows.";
  if (sentence.length > longest) {
    return `That is ${sentence.length} words; this figure reads at most ${longest}.`;
  }
  const unknown = sentence.find((word) => !english.includes(word));
  if (unknown === undefined) return "";
  const [nearest] = [...english].sort(
    (a, b) => editDistance(unknown, a) - editDistance(unknown, b),
  );
  return `The model does not know “${unknown}”. The nearest of its ${english.length} English words is “${nearest}”.`;
}

/** The English words that a translator knows, to be unfolded. */
export const knownWords = ({ english }) =>
  element(
    "details",
    {},
    element("summary", {}, `The ${english.length} words it knows`),
    element("p", { style: "font-size: .86rem" }, english.join(" · ")),
  );
