// @ts-check
// What the reader sets, and the controls that set it.

import { css, element, format } from "./dom.js";

css`
  .cl-control.cl-inline {
    grid-template-columns: auto 1fr;
    align-items: center;
    gap: 0.45rem;
    min-height: 24px; /* as wide as a fingertip, by WCAG 2.5.8 */
    color: var(--ink);
  }
  .cl-tabs {
    display: flex;
    flex-wrap: wrap;
    gap: 0;
    margin-bottom: 1rem;
  }
  .cl-tabs legend {
    position: absolute;
    clip-path: inset(50%);
  }
  .cl-tabs label {
    border: 1px solid var(--line);
    margin-left: -1px;
    padding: 0.3rem 0.8rem;
    cursor: pointer;
    display: flex;
    gap: 0.4rem;
    align-items: center;
  }
  .cl-tabs label:has(:checked) {
    background: color-mix(in oklab, var(--heat) 18%, transparent);
  }
  @media (max-width: 30rem) {
    .cl-tabs label {
      padding: 0.3rem 0.5rem;
    }
  }
`;

/** What the reader sets: `state.value`, `state.set({...})`; functions given to `state.draw` run now
    and after every change, whether it comes from a control or from Python. Those given to
    `state.drawWide(node, draw)` get the width of the node as well, and run when that changes; those
    given to `state.atEnd` when the figure is taken away.
    @param {Model} model
    @returns {State} */
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

/** The key as a name that no other group of radio buttons in the document has, whoever drew it.
    @param {string} key */
export function unique(key) {
  document.companionNames = (document.companionNames ?? 0) + 1;
  return `${key}-${document.companionNames}`;
}

/** A function that computes again only when its argument has changed: many parts draw from one result.
    @template A, R
    @param {(value: A) => R} compute
    @returns {(value: A) => R} */
export function remember(compute) {
  let key, result;
  return (value) => {
    const now = JSON.stringify(value);
    if (now !== key) [key, result] = [now, compute(value)];
    return result;
  };
}

/** A button; `act(value)` gives the changes of the state, `draw(node, value)` follows it.
    @param {State} state
    @param {string} text
    @param {(value: Value) => Value} act
    @param {{ draw?: (node: HTMLButtonElement, value: Value) => void, [attribute: string]: any }} [look] */
export function button(state, text, act, { draw = () => {}, ...attributes } = {}) {
  const node = element("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", () => state.set(act(state.value)));
  state.draw((value) => draw(node, value));
  return node;
}

/** A labelled range input. `max` is a number or max(value), where it changes; `describe(number, value)` is
    the text beside the label, `disabled(value)` whether it cannot be moved, `at(value)` where it stands
    instead of at value[key].
    @param {State} state
    @param {string} key
    @param {string} label
    @param {{ min: number, max: number | ((value: Value) => number), step?: number,
     describe?: (number: number, value: Value) => string, disabled?: (value: Value) => boolean,
     at?: (value: Value) => number }} range */
export function slider(
  state,
  key,
  label,
  {
    min,
    max,
    step = 1,
    describe = (number) => format(number, 0),
    disabled = () => false,
    at = (value) => value[key],
  },
) {
  const shown = element("b");
  const input = element("input", { type: "range", min, step, name: key });
  const most = typeof max === "function" ? max : () => max;
  input.addEventListener("input", () => state.set({ [key]: input.valueAsNumber }));
  state.draw((value) => {
    input.max = String(most(value));
    input.value = String(at(value));
    input.disabled = disabled(value);
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

/** An option and the text that it shows: [option, text], or an option that says what it is. */
const withText = (option) => (Array.isArray(option) ? option : [option, option]);

/** A labelled select. Its `list`, or list(value), has options, which keep their types: a word or a number,
    [option, text], or a group of them, { group, options }. `at` and `disabled` are as a slider's;
    `change(option, value)` gives the changes of the state.
    @param {State} state
    @param {string} key
    @param {string} label
    @param {Choice[] | ((value: Value) => Choice[])} list
    @param {{ disabled?: (value: Value) => boolean, at?: (value: Value) => string | number,
     change?: (option: any, value: Value) => Value }} [more] */
export function choice(
  state,
  key,
  label,
  list,
  {
    disabled = () => false,
    at = (value) => value[key],
    change = (option) => ({ [key]: option }),
  } = {},
) {
  const select = element("select", { name: key });
  const offered = typeof list === "function" ? list : () => list;
  let shown = "",
    options = [];
  const nodeOf = (one) => {
    if (one.options) return element("optgroup", { label: one.group }, one.options.map(nodeOf));
    const [option, text] = withText(one);
    options.push(option);
    return element("option", { value: option }, text);
  };
  select.addEventListener("change", () =>
    state.set(change(options[select.selectedIndex], state.value)),
  );
  state.draw((value) => {
    const now = offered(value);
    if (JSON.stringify(now) !== shown) {
      shown = JSON.stringify(now);
      options = [];
      select.replaceChildren(...now.map(nodeOf));
    }
    select.value = String(at(value));
    select.disabled = disabled(value);
  });
  return element("label", { class: "cl-control" }, label, select);
}

/** A labelled check box.
    @param {State} state
    @param {string} key
    @param {string} label */
export function toggle(state, key, label) {
  const input = element("input", { type: "checkbox", name: key });
  input.addEventListener("change", () => state.set({ [key]: input.checked }));
  state.draw((value) => {
    input.checked = value[key];
  });
  return element("label", { class: "cl-control cl-inline" }, input, label);
}

/** Radio buttons that look like tabs: of a list of options as those of a choice.
    @param {State} state
    @param {string} key
    @param {string} label
    @param {Choice[]} list */
export function tabs(state, key, label, list, change = (option) => ({ [key]: option })) {
  const options = list.map(withText);
  const name = unique(key);
  const inputs = options.map(([option]) =>
    element("input", { type: "radio", name, value: option }),
  );
  inputs.forEach((input) => input.addEventListener("change", () => state.set(change(input.value))));
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
