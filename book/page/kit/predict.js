// @ts-check
// A guess before the answer.

import { followAnswers } from "./answers.js";
import { unique } from "./controls.js";
import { css, element, format } from "./dom.js";

css`
  .cl-predict + .cl-captions > * {
    margin-top: 0;
  }
  .cl-predict {
    margin: 0.4rem 0 0.9rem;
  }
  .cl-predict legend {
    font-weight: 600;
  }
  .cl-predict .cl-controls {
    margin: 0.4rem 0 0;
  }
  .cl-predict .cl-control {
    display: block;
    padding: 0;
    cursor: auto;
  }
  .cl-predict .cl-control input {
    display: block;
    width: 100%;
    margin: 0.2rem 0 0;
  }
  .cl-few {
    display: flex;
    flex-wrap: wrap;
    gap: 0.35rem 0.8rem;
  }
  .cl-few label {
    position: relative;
    padding-right: 1.5rem;
  }
  .cl-few .cl-true::after {
    position: absolute;
    right: 0.4rem;
    top: 0.25rem;
  }
  .cl-few .cl-controls {
    margin: 0;
  }
  .cl-none {
    align-self: center;
    color: var(--quiet);
    font-size: 0.86rem;
  }
  .cl-predict .cl-true {
    outline: 2px solid var(--first);
  }
  .cl-predict .cl-true::after {
    content: "✓";
    grid-area: 1 / 3;
  }
`;

/** A guess before the answer: a question over a slider ({ low, high, step, describe }), radio buttons
    ({ choices }) or a node that sets the guess itself ({ input }), and a button. The state's
    value[key] is { guess, shown }: the number or the choice (null: none yet), and whether the answer
    may be seen. Without a guess the button shows it and says that there was none; *Show all answers* in the
    head of the page shows it, too. `act(value)` gives further changes of the state for when it is shown.
    @param {State} state
    @param {string} key
    @param {{ question: Child, choices?: string[], input?: Node, act?: (value: Value) => Value, low?: number,
     high?: number, step?: number, describe?: (number: number) => string }} guess */
export function predict(state, key, { question, choices, input, act = () => ({}), ...range }) {
  const set = (changes, more) => state.set({ [key]: { ...state.value[key], ...changes }, ...more });
  const asked = () =>
    choices ? chooseGuess(state, key, set, choices) : slideGuess(state, key, set, range);
  const show = element("button", { type: "button", class: "cl-main" });
  const none = element("span", { class: "cl-none" });
  const turn = (shown) => set({ shown }, shown ? act(state.value) : {});
  show.addEventListener("click", () => turn(!state.value[key].shown));
  state.draw((value) => {
    const { guess, shown } = value[key];
    const blind = shown && guess === null;
    none.textContent = blind ? "You saw it without a guess." : "";
    show.textContent = blind ? "Make a guess" : shown ? "Guess again" : "Show the answer";
  });
  const controls = element("div", { class: "cl-controls" }, show, none);
  const few = choices && choices.join("").length < 30; // they stand in a row
  const field = element(
    "fieldset",
    { class: `cl-question cl-predict${few ? " cl-few" : ""}`, "data-name": key },
    element("legend", {}, question),
    input ?? asked(),
    controls,
  );
  let wasShown = false;
  state.draw((value) => {
    const { shown } = value[key];
    const veil = field.closest(".cell")?.nextElementSibling; // what the press put behind the guess
    if (shown !== wasShown && veil?.matches("details.veiled")) {
      /** @type {HTMLDetailsElement} */ (veil).open = shown;
    }
    wasShown = shown;
  });
  followAnswers(state, (shown) => {
    controls.hidden = shown; // who sees all answers does not guess
    if (state.value[key].shown !== shown) turn(shown);
  });
  return field;
}

/** @param {State} state
    @param {string} key
    @param {(changes: Value) => void} set
    @param {any} range */
function slideGuess(state, key, set, { low, high, step, describe = (number) => format(number) }) {
  const input = element("input", { type: "range", min: low, max: high, step, name: key });
  const number = element("b");
  const label = element("label", { class: "cl-control" }, "your guess ", number, input);
  input.addEventListener("input", () => set({ guess: input.valueAsNumber }));
  state.draw(({ [key]: { guess, shown } }) => {
    input.value = guess ?? low;
    input.disabled = shown;
    number.textContent = guess === null ? "not made yet" : describe(guess);
    input.setAttribute("aria-valuetext", number.textContent);
    label.hidden = shown && guess === null; // who made none sees the answer alone
  });
  return label;
}

/** @param {State} state
    @param {string} key
    @param {(changes: Value) => void} set
    @param {string[]} choices */
function chooseGuess(state, key, set, choices) {
  const name = unique(key);
  const inputs = choices.map((option) => element("input", { type: "radio", name, value: option }));
  inputs.forEach((input, i) => input.addEventListener("change", () => set({ guess: choices[i] })));
  state.draw(({ [key]: { guess, shown } }) =>
    inputs.forEach((input, i) => {
      input.checked = choices[i] === guess;
      input.disabled = shown && !input.checked;
    }),
  );
  return choices.map((option, i) => element("label", {}, inputs[i], element("span", {}, option)));
}
