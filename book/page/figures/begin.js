// Where to begin: a question from each of some chapters; the first that is new to the reader decides.

import { button, connect } from "../kit/controls.js";
import { element, frame } from "../kit/dom.js";
import { questionFields, rightOption } from "../kit/questions.js";

function render({ model, el }) {
  const { questions, otherwise } = model.get("data"),
    all = questions.length;
  const state = connect(model);
  const fields = questions.map((question, i) =>
    questionFields(state, question, `${i + 1} of ${all}.`, (option) =>
      state.set({ chosen: { ...state.value.chosen, [question.name]: option } }),
    ),
  );
  state.draw(({ passed }) =>
    fields.forEach((field, i) => {
      field.hidden = i !== passed;
    }),
  );
  const next = button(state, "Next", ({ passed }) => ({ passed: passed + 1 }), {
    draw: (node, { passed, chosen }) => {
      node.disabled = passed === all || !(questions[passed].name in chosen);
      node.hidden = passed === all;
    },
  });
  next.classList.add("cl-main");
  next.addEventListener("click", () => {
    (fields[state.value.passed]?.querySelector(":checked, input") ?? again).focus();
  });
  const again = button(state, "Start again", () => ({ passed: 0, chosen: {} }), {
    draw: (node, { passed }) => {
      node.disabled = passed === 0;
    },
  });

  const say = element("output", { class: "cl-say", "aria-live": "polite" });
  const link = ({ href, title }) => element("a", { href }, title);
  state.draw(({ passed, chosen }) => {
    const missed = questions
      .slice(0, passed)
      .filter((question) => chosen[question.name] !== rightOption(question))
      .map((question) => question.chapter);
    const [first, ...later] = missed;
    if (!first) {
      say.replaceChildren(
        ...(passed < all
          ? [passed ? `${passed} right so far.` : "Choose an answer, also where it is a guess."]
          : [`All ${all} right. Begin with `, link(otherwise), " and follow what surprises you."]),
      );
      return;
    }
    say.replaceChildren(
      "Begin with ",
      element("b", {}, link(first)),
      `: ${first.question}`,
      ...later.flatMap((chapter, i) => [i ? ", " : " New to you as well: ", link(chapter)]),
      later.length ? "." : "",
    );
  });
  const controls = element("div", { class: "cl-controls cl-quiz" }, next, again);
  frame(el, model.get("data").title, ...fields, controls, say);
  return state.close;
}

export default { render };
