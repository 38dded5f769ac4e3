// A sum in columns with the three carries that a model has written: the reader flips them, and the
// trained model's answer follows. Its answers to all eight lines of carries come with the figure.

import { button, choice, connect } from "../../page/kit/controls.js";
import { announce, css, element, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { columnHead, headRow, tableRow } from "../../page/kit/tables.js";

css`
  .cl-paper-sum td {
    text-align: center;
    font-size: 1.15rem;
    min-width: 3.1rem;
    padding: 0.16rem 0.2rem;
  }
  .cl-paper-sum th {
    white-space: normal;
    padding-left: 0;
  }
  .cl-paper-sum thead th {
    text-align: center;
    font-size: 0.78rem;
    padding: 0.1rem;
  }
  .cl-paper-sum .cl-below td,
  .cl-paper-sum .cl-below th {
    border-top: 1.5px solid var(--ink);
  }
  .cl-paper-sum button {
    min-width: 2.7rem;
    font-size: 1rem;
  }
  .cl-paper-sum [data-false] {
    border: 2px dashed var(--second);
  }
  .cl-paper-sum .cl-model-row td {
    font-weight: 650;
  }
  .cl-paper-sum .cl-astray {
    color: var(--second);
    text-decoration: underline wavy 1.5px;
    text-underline-offset: 0.2em;
  }
  .cl-lines {
    display: grid;
    grid-template-columns: repeat(2, max-content);
    gap: 0.25rem 0.4rem;
  }
  .cl-lines button {
    font-family: var(--pst-font-family-monospace, monospace);
    padding: 0.15rem 0.5rem;
    min-height: 1.8rem;
  }
  .cl-lines [aria-pressed="true"] {
    border: 2px solid var(--first);
  }
  .cl-paper-text {
    font-family: var(--pst-font-family-monospace, monospace);
  }
`;

const COLUMNS = ["units", "tens", "hundreds", "thousands"];
const LINES = Array.from({ length: 8 }, (_, i) => [...i.toString(2).padStart(3, "0")].map(Number));

/** The digits of a number, units first. */
const digitsOf = (number, count) => [...String(number).padStart(count, "0")].reverse().map(Number);

/** Whether units, tens and hundreds carry. */
const trueCarries = ({ a, b }) =>
  [10, 100, 1000].map((ten) => Number((a % ten) + (b % ten) >= ten));

/** What somebody writes who adds the columns and trusts these carries: digits, units first. */
function byHand({ a, b }, carries) {
  const [first, second] = [digitsOf(a, 3), digitsOf(b, 3)];
  const digits = first.map((digit, i) => (digit + second[i] + (i ? carries[i - 1] : 0)) % 10);
  return [...digits, carries[2]];
}

function render({ model, el }) {
  const { sums } = model.get("data");
  const state = connect(model);
  const chosen = ({ sum }) => sums[sum];
  const answerTo = (one, carries) => one.answers[parseInt(carries.join(""), 2)];
  const key = (sum, carries) => `${sum}:${carries.join("")}`;
  const visit = (value, carries) => ({
    carries,
    seen: [...new Set([...value.seen, key(value.sum, carries)])],
  });
  const wrongIn = (one, carries) => trueCarries(one).map((carry, i) => carry !== carries[i]);
  const astray = (one, carries) => {
    const truth = digitsOf(one.a + one.b, 4);
    return [...answerTo(one, carries)].reverse().map((digit, i) => digit !== String(truth[i]));
  };

  const names = sums.map(({ a, b }, i) => [i, `${a} + ${b}`]);
  const which = choice(state, "sum", "sum", names, {
    change: (sum, value) => {
      const carries = trueCarries(sums[sum]);
      return { sum, ...visit({ ...value, sum }, carries) };
    },
  });
  const restore = button(state, "true carries", (value) =>
    visit(value, trueCarries(chosen(value))),
  );

  const flips = [0, 1, 2].map((i) =>
    button(state, "", (value) => visit(value, value.carries.with(i, 1 - value.carries[i])), {
      draw(node, value) {
        const wrong = wrongIn(chosen(value), value.carries)[i];
        node.textContent = String(value.carries[i]);
        node.toggleAttribute("data-false", wrong);
        const name = `carry of the ${COLUMNS[i]}: ${value.carries[i]}${wrong ? ", false" : ""}`;
        node.setAttribute("aria-label", `${name}; flip it`);
      },
    }),
  );
  /** A row of digits under their columns; cells are listed from the thousands, as they are read. */
  const digitRow = (heading, name, digits, look = {}) => {
    const cells = COLUMNS.map(() => element("td", { "data-name": name })).reverse();
    state.draw((value) => {
      const off = look.judged ? astray(chosen(value), value.carries) : [];
      digits(value).forEach((digit, i) => {
        const cell = cells[3 - i];
        cell.textContent = String(digit);
        cell.classList.toggle("cl-astray", off[i] === true);
      });
    });
    const row = tableRow(heading, ...cells);
    if (look.class) row.setAttribute("class", look.class);
    return row;
  };
  const onPaper = element(
    "table",
    { class: "cl-paper-sum" },
    headRow(element("td"), ...COLUMNS.toReversed().map((name) => columnHead(name))),
    element(
      "tbody",
      {},
      tableRow(
        "carries, from the right",
        ...flips.toReversed().map((flip) => element("td", {}, flip)),
        element("td"),
      ),
      digitRow("", "first", (value) => [...digitsOf(chosen(value).a, 3), ""]),
      digitRow("", "second", (value) => [...digitsOf(chosen(value).b, 3), "+"]),
      digitRow(
        "the model writes",
        "model",
        (value) => [...answerTo(chosen(value), value.carries)].reverse(),
        { judged: true, class: "cl-below cl-model-row" },
      ),
      digitRow("by hand, with these carries", "hand", (value) =>
        byHand(chosen(value), value.carries),
      ),
      digitRow("the sum", "truth", (value) => digitsOf(chosen(value).a + chosen(value).b, 4)),
    ),
  );

  const lines = LINES.map((carries) =>
    button(state, "", (value) => visit(value, carries), {
      draw(node, value) {
        const seen = value.seen.includes(key(value.sum, carries));
        const text = `${carries.join("")}:${seen ? answerTo(chosen(value), carries) : "····"}`;
        node.textContent = text;
        node.setAttribute("aria-pressed", String(carries.join() === value.carries.join()));
        node.setAttribute(
          "aria-label",
          `carries ${carries.join(" ")}${seen ? `, answer ${answerTo(chosen(value), carries)}` : ""}`,
        );
      },
    }),
  );
  const record = element(
    "div",
    {},
    element("p", { style: "margin: 0 0 0.4rem" }, "All eight lines"),
    element("div", { class: "cl-lines" }, lines),
  );

  const answer = element("b", { "data-name": "answer" });
  const before = element("span");
  state.draw((value) => {
    const one = chosen(value);
    before.textContent = `${one.a}+${one.b}=${value.carries.join("")}:`;
    answer.textContent = answerTo(one, value.carries);
    answer.dataset.value = answer.textContent;
  });
  const text = element("p", { class: "cl-paper-text" }, before, answer);

  const tell = (value) => {
    const one = chosen(value),
      found = answerTo(one, value.carries),
      sum = String(one.a + one.b).padStart(4, "0"),
      false_ = wrongIn(one, value.carries).filter(Boolean).length;
    if (!false_) {
      return found === sum
        ? `The carries are true, and so is the answer, ${found}.`
        : `The carries are true; the answer, ${found}, is not.`;
    }
    const hand = byHand(one, value.carries).reverse().join("");
    const many = ["", "One carry is", "Two carries are", "Three carries are"][false_];
    const means = hand === sum ? "still makes the sum" : `makes ${hand}`;
    return `${many} false. The model writes ${found}; a person who trusts the carries ${means}.`;
  };
  const longest =
    "Three carries are false. The model writes 0000; a person who trusts the carries still makes the sum.";

  /** A goal that some sum and some line can reach, and the figure does not open on. */
  const start = state.value;
  const reachable = ({ test }) =>
    !test(chosen(start), start.carries) &&
    sums.some((one) => LINES.some((carries) => test(one, carries)));
  const alone = (one, carries) => wrongIn(one, carries).filter(Boolean).length === 1;
  const puzzles = [
    {
      text: "Claim one carry that is not there, and turn its own column into a 0.",
      test: (one, carries) =>
        alone(one, carries) &&
        wrongIn(one, carries).some(
          (wrong, i) =>
            wrong &&
            carries[i] === 1 &&
            astray(one, carries)[i] &&
            answerTo(one, carries)[3 - i] === "0",
        ),
    },
    {
      text: "Make the model end on 999 where the sum has no 9 in these places.",
      test: (one, carries) =>
        answerTo(one, carries).endsWith("999") &&
        !String(one.a + one.b)
          .slice(-3)
          .includes("9"),
    },
    {
      text: "Find three carries with which not one of the four digits is right.",
      test: (one, carries) => astray(one, carries).every(Boolean),
    },
  ]
    .filter(reachable)
    .map(({ text, test }) => ({
      text,
      reached: (value) => test(chosen(value), value.carries),
    }));

  frame(
    el,
    "Flip a carry",
    element("div", { class: "cl-controls" }, which, restore),
    element("div", { class: "cl-side" }, onPaper, record),
    text,
    announce(state, tell, [longest]),
    goals(state, puzzles),
  );
  return state.close;
}

export default { render };
