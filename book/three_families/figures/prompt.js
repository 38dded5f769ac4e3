// In-context learning: the same frozen model, the same word; only the examples before it change.

import { choice, connect, slider } from "../../page/kit/controls.js";
import { announce, element, format, frame, steady } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { answerList } from "../../page/kit/tables.js";

/** White space is made visible: a model often puts it first. */
const quoted = (text) =>
  text.trim()
    ? `\u201c${text}\u201d`
    : text.replaceAll("\n", "↵").replaceAll(" ", "␣") || "nothing";

function render({ model, el }) {
  const { tasks } = model.get("data");
  const state = connect(model);
  const most = tasks[0].examples.length;
  const now = ({ task, word, shots }) => {
    const { examples, words } = tasks[task];
    const { asked, right, answers } = words[word];
    return { asked, right, answers: answers[shots], examples: examples.slice(0, shots) };
  };
  const named = (list) => list.map((text, i) => [i, text]);
  const controls = element(
    "div",
    { class: "cl-controls" },
    slider(state, "shots", "examples", { min: 0, max: most }),
    choice(state, "task", "which show", named(tasks.map(({ name }) => name))),
    choice(state, "word", "the word", ({ task }) =>
      named(tasks[task].words.map(({ asked }) => asked)),
    ),
  );
  const prompt = element("pre", { "data-name": "prompt" });
  const every = Array.from({ length: most + 1 }, (_, shots) => ({ ...state.value, shots }));
  steady(state, prompt, every, (value) => {
    const { examples, asked } = now(value);
    prompt.textContent = [...examples.map((pair) => pair.join(": ")), `${asked}:`].join("\n");
  });
  const answers = answerList(state, "answers", (value) =>
    now(value).answers.map(([text, p]) => [quoted(text), p]),
  );
  const say = announce(state, (value) => {
    const { answers, right } = now(value);
    const [[text, p]] = answers;
    const judged = text === right ? "the right one" : `the right one is \u201c${right}\u201d`;
    return `After this prompt the model puts ${quoted(text)} first (${format(p)}); ${judged}.`;
  });
  const first = tasks.map(({ words }) => words[0]);
  const puzzles = goals(
    state,
    [0, 1].map((task) => ({
      text: `Make \u201c${first[task].right}\u201d the first answer to \u201c${first[task].asked}\u201d.`,
      reached: (value) =>
        value.task === task && value.word === 0 && now(value).answers[0][0] === first[task].right,
    })),
  );
  const next = element("p", { style: "margin: .3rem 0" }, "What comes next, most probable first:");
  frame(el, "A task in the prompt", controls, prompt, next, answers, say, puzzles);
  return state.close;
}

export default { render };
