// Five questions from the chapters that this browser has read, those missed before more often.

import { connect } from "../kit/controls.js";
import { element } from "../kit/dom.js";
import { ask, rightOption } from "../kit/questions.js";
import { chaptersRead, remember, remembered } from "../kit/read.js";

const KEY = "questions-missed"; // {name: how often, less the times that it was then right}
const FIVE = 5;

/** Some of these, none twice; each comes as often as its weight says. */
function drawn(questions, weight, count) {
  const waiting = (question) => -Math.log(1 - Math.random()) / weight(question);
  return questions
    .map((question) => ({ question, time: waiting(question) }))
    .sort((one, other) => one.time - other.time)
    .slice(0, count)
    .map(({ question }) => question);
}

function render({ model, el }) {
  const { quizzes, value } = model.get("data");
  let state;
  const show = () => {
    state?.close();
    model.set("value", value);
    const read = chaptersRead();
    const found = quizzes.filter(({ page }) => read.includes(page));
    const from = found.length ? found : quizzes.slice(0, 1);
    const missed = remembered(KEY, {});
    const all = from.flatMap(({ href, title, questions }) =>
      questions.map((question) => ({ ...question, href, chapter: title })),
    );
    const five = drawn(all, ({ name }) => 1 + 3 * (missed[name] ?? 0), FIVE);
    state = connect(model);
    const known = new Set();
    state.draw(({ chosen, checked }) => {
      for (const question of five) {
        if (!checked.includes(question.name) || known.has(question.name)) continue;
        known.add(question.name); // its first answer counts
        const kept = remembered(KEY, {}),
          before = kept[question.name] ?? 0;
        const right = chosen[question.name] === rightOption(question);
        remember(KEY, { ...kept, [question.name]: right ? Math.max(0, before - 1) : before + 1 });
      }
    });
    const source = element("a", {});
    state.draw((now) => {
      const { href, chapter } = five[now.question];
      source.href = href;
      source.textContent = chapter;
    });
    const more = element("button", { type: "button" }, "Five others");
    more.addEventListener("click", show);
    const title = found.length
      ? `Five questions from what you have read: ${found.length} of ${quizzes.length} chapters`
      : "Five questions from the first chapter, since this browser has read none to its end";
    ask(el, state, title, five, more, element("span", {}, "Its chapter: ", source));
  };
  show();
  return () => state.close();
}

export default { render };
