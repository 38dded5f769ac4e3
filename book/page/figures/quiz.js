// A quiz: one question at a time, native radio buttons, and the reason for every answer that is checked.

import { button, connect } from "../kit/controls.js";
import { css, element, frame } from "../kit/dom.js";
import { prose, questionFields, rightOption } from "../kit/questions.js";

css`
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

function render({ model, el }) {
  const { questions } = model.get("data"),
    last = questions.length - 1;
  const state = connect(model);
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
    model.get("data").title,
    ...fields,
    controls(check),
    say,
    others,
    controls(turn("Previous", -1, 0), turn("Next", 1, last), score),
  );
  return () => state.close();
}

export default { render };
