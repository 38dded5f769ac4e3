// The reader as an examiner: of two pictures of a digit, which one has a person drawn?

import { button, connect, tabs } from "../../page/kit/controls.js";
import { announce, css, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";

css`
  .cl-exam {
    display: flex;
    flex-wrap: wrap;
    gap: 0.8rem 1.2rem;
    align-items: center;
  }
  .cl-exam button {
    padding: 0.5rem 0.5rem 0.3rem;
    display: grid;
    gap: 0.2rem;
    justify-items: center;
  }
  .cl-exam svg rect {
    fill: var(--ink);
  }
  .cl-exam [data-real="true"] {
    outline: 3px solid var(--first);
  }
`;

const SIDE = 8,
  CELL = 15;

/** What a text of signs shows, as the pixels of a drawing. */
const pixelsOf = (text) =>
  Array.from(text, (sign, i) =>
    drawing("rect", {
      x: (i % SIDE) * CELL,
      y: Math.floor(i / SIDE) * CELL,
      width: CELL + 0.3,
      height: CELL + 0.3,
      opacity: parseInt(sign, 17) / 16,
    }),
  );

function render({ model, el }) {
  const { painters } = model.get("data");
  const state = connect(model);
  const now = ({ painter }) => painters.find(({ name }) => name === painter);
  const given = (value) => value.answers[value.painter];
  /** The pair in sight: the next one, or that which has just been judged. */
  const at = (value) => {
    const count = given(value).length;
    return Math.min(value.shown ? count - 1 : count, now(value).pairs.length - 1);
  };
  const done = (value) => !value.shown && given(value).length >= now(value).pairs.length;
  const rightIn = (answers) => answers.filter(Boolean).length;

  const judge = (side) => (value) => {
    if (value.shown || done(value)) return {};
    const right = now(value).pairs[at(value)].side === side;
    const answers = { ...value.answers, [value.painter]: [...given(value), right] };
    return { answers, shown: true };
  };
  const picture = (side) => {
    const name = side ? "right" : "left";
    const paper = drawing("svg", {
      width: SIDE * CELL,
      height: SIDE * CELL,
      "aria-hidden": "true",
    });
    const said = element("span");
    const node = button(state, "", judge(side), {
      "data-name": name,
      draw: (node, value) => {
        const pair = now(value).pairs[at(value)];
        const isReal = pair.side === side;
        paper.replaceChildren(...pixelsOf(isReal ? pair.real : pair.painted));
        said.textContent = value.shown ? (isReal ? "a person" : "painted") : `the ${name} one`;
        node.dataset.real = String(value.shown && isReal);
        fill(node, { "aria-label": `the ${name} picture is real: ${said.textContent}` }, []);
      },
    });
    node.append(paper, said);
    return node;
  };
  const next = button(state, "Next pair", () => ({ shown: false }), {
    class: "cl-main",
    draw: (node, value) => node.setAttribute("aria-disabled", String(!value.shown)),
  });
  const machine = element("b", { "data-name": "share" });
  const own = element("b", { "data-name": "own" });
  const scores = element(
    "p",
    {},
    "You: ",
    own,
    ". The classifier, which sees one picture at a time, is right on ",
    machine,
    " of them.",
  );
  state.draw((value) => {
    const answers = given(value);
    write(machine, now(value).share);
    machine.textContent = `${format(100 * now(value).share, 0)} %`;
    own.textContent = `${rightIn(answers)} of ${answers.length}`;
    own.dataset.value = String(rightIn(answers));
  });
  const tell = (value) => {
    if (done(value)) return `All pairs are judged: ${rightIn(given(value))} right.`;
    if (!value.shown) return "Which of the two has a person drawn? Choose a picture.";
    const { side } = now(value).pairs[at(value)];
    const where = side ? "right" : "left";
    return `${given(value).at(-1) ? "Yes" : "No"}: a person drew the ${where} one.`;
  };
  const [easiest] = painters;
  const some = ({ answers }) => Object.values(answers);
  frame(
    el,
    "Which one has a person drawn?",
    tabs(
      state,
      "painter",
      "painter",
      painters.map(({ name }) => name),
      (painter) => ({ painter, shown: false }),
    ),
    element("div", { class: "cl-exam" }, picture(0), picture(1), next),
    scores,
    announce(state, tell, ["Which of the two has a person drawn? Choose a picture."]),
    goals(state, [
      {
        text: "Judge ten pairs of one painter.",
        reached: (value) => some(value).some((answers) => answers.length >= 10),
      },
      {
        text: `Be right on eight of the first ten pairs of “${easiest.name}”.`,
        reached: ({ answers }) =>
          answers[easiest.name].length >= 10 && rightIn(answers[easiest.name].slice(0, 10)) >= 8,
      },
      {
        text: "Find a painter that deceives you: three wrong answers among your first ten.",
        reached: (value) =>
          some(value).some((answers) => answers.slice(0, 10).filter((right) => !right).length >= 3),
      },
    ]),
  );
  return state.close;
}

export default { render };
