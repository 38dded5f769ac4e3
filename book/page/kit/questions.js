// Questions with native radio buttons, one of whose options is right.

import { unique } from "./controls.js";
import { css, element } from "./dom.js";

css`
  .cl-quiz {
    margin: 0.9rem 0 0;
    align-items: center;
  }
`;

/** Text in which what stands between backticks is code, as nodes. */
export const prose = (text) =>
  text.split("`").map((piece, i) => (i % 2 ? element("code", {}, piece) : piece));

export const rightOption = (question) => question.options.findIndex((option) => option.right);

/** A question; `choose(i)` hears which option was chosen, `value.chosen[name]` says which one is. */
export function questionFields(state, question, heading, choose) {
  const name = unique(question.name);
  const inputs = question.options.map((_, i) =>
    element("input", { type: "radio", name, value: i }),
  );
  inputs.forEach((input, i) => input.addEventListener("change", () => choose(i)));
  state.draw(({ chosen }) =>
    inputs.forEach((input, i) => {
      input.checked = chosen[question.name] === i;
    }),
  );
  return element(
    "fieldset",
    { class: "cl-question" },
    element("legend", {}, element("b", {}, heading), " ", prose(question.text)),
    question.options.map((option, i) =>
      element("label", {}, inputs[i], element("span", {}, prose(option.text))),
    ),
  );
}
