// Questions with native radio buttons, one of whose options is right.

import { button, unique } from "./controls.js";
import { css, element, frame } from "./dom.js";

css`
  .cl-quiz {
    margin: 0.9rem 0 0;
    align-items: center;
  }
  .cl-question :is(legend, label) {
    overflow-wrap: anywhere; /* where letters are twice as large, a word is wider than a phone */
  }
  .cl-others {
    margin: 0.6rem 0 0;
    padding: 0 0 0 0.95rem;
    border: 0;
    background: none;
    box-shadow: none;
  }
  .cl-others summary {
    cursor: pointer;
    width: max-content;
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

/** One question at a time, checked when the reader asks for it, with the reason for every answer.
    `parts` stand behind the score. The state has `question`, `chosen` and `checked`. */
export function ask(el, state, title, questions, ...parts) {
  const last = questions.length - 1;
  const now = () => questions[state.value.question];
  const fields = questions.map((question, i) =>
    questionFields(state, question, `${i + 1} of ${questions.length}.`, (option) => {
      const { chosen, checked } = state.value;
      state.set({
        chosen: { ...chosen, [question.name]: option },
        checked: checked.filter((other) => other !== question.name),
      });
    }),
  );
  state.draw((value) =>
    fields.forEach((field, i) => {
      field.hidden = i !== value.question;
    }),
  );
  const focusRadio = () => {
    const field = fields[state.value.question];
    (field.querySelector(":checked") ?? field.querySelector("input")).focus();
  };

  const check = element("button", { type: "button", class: "cl-main" }, "Check");
  check.addEventListener("click", () => {
    const { chosen, checked } = state.value;
    if (!(now().name in chosen)) focusRadio();
    else if (!checked.includes(now().name)) state.set({ checked: [...checked, now().name] });
  });
  const turn = (text, by, end) => {
    const node = button(state, text, ({ question }) => ({ question: question + by }), {
      draw: (node, { question }) => {
        node.disabled = question === end;
      },
    });
    node.addEventListener("click", focusRadio);
    return node;
  };
  const score = element("span", { class: "cl-score" });
  state.draw(({ chosen, checked }) => {
    const right = questions.filter(
      (question) =>
        checked.includes(question.name) && chosen[question.name] === rightOption(question),
    );
    score.textContent = `${right.length} of ${questions.length} right`;
  });

  const say = element("output", { class: "cl-say", "aria-live": "polite" });
  const others = element("details", { class: "cl-others" });
  state.draw(({ chosen, checked }) => {
    const { name, options } = now(),
      option = options[chosen[name]];
    const right = checked.includes(name) && option.right;
    if (!checked.includes(name)) say.replaceChildren("Choose an answer, then check it.");
    else {
      say.replaceChildren(
        element("b", {}, right ? "✓ Right." : "✗ Not this one."),
        " ",
        ...prose(option.why),
      );
    }
    others.hidden = !right;
    others.open = false;
    others.replaceChildren(
      element("summary", {}, "Why not the others"),
      ...options
        .filter((other) => !other.right)
        .map((other) =>
          element("p", {}, element("b", {}, prose(other.text)), " – ", prose(other.why)),
        ),
    );
  });

  const controls = (...parts) => element("div", { class: "cl-controls cl-quiz" }, ...parts);
  frame(
    el,
    title,
    ...fields,
    controls(check),
    say,
    others,
    controls(turn("Previous", -1, 0), turn("Next", 1, last), score, ...parts),
  );
}
