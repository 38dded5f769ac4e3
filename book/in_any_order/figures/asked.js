// Who wrote this book? Two networks are asked backwards, once; the GPT can also be asked forwards, author
// by author: how probable is the book after each name?

import { button, choice, connect, slider } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame, paint } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { answerList } from "../../page/kit/tables.js";

css`
  .cl-askings {
    width: 100%;
    margin: 0.5rem 0;
  }
  .cl-askings td,
  .cl-askings th {
    text-align: left;
    white-space: normal;
  }
  .cl-askings [data-right="true"] {
    color: var(--first);
    font-weight: 650;
  }
  .cl-askings [data-right="false"] {
    color: var(--second);
  }
  .cl-forwards .cl-control.cl-wide input {
    width: 100%;
  }
  .cl-forwards .cl-control.cl-wide {
    width: 100%;
  }
`;

function render({ model, el }) {
  const { books, authors } = model.get("data");
  const state = connect(model);
  const last = authors.length - 1;
  const chosen = ({ book }) => books[book];
  const seen = books.map(() => new Set()); // for each book, the authors that were asked about
  state.draw(({ book, author }) => seen[book].add(author));

  const row = (heading, question, answer) => {
    const cell = element("td", { "data-name": heading });
    const asked = element("td");
    state.draw((value) => {
      const one = chosen(value);
      const right = answer(one) === authors[one.author];
      asked.textContent = question(one);
      cell.textContent = `${answer(one)} ${right ? "✓" : "✗"}`;
      cell.dataset.right = String(right);
    });
    return element("tr", {}, element("th", { scope: "row" }, heading), asked, cell);
  };
  const backwards = ({ name }) => `${name} was written by …`;
  const table = element(
    "table",
    { class: "cl-askings" },
    element(
      "tbody",
      {},
      row("GPT", backwards, ({ gpt }) => gpt),
      row("any order", backwards, ({ other }) => other),
    ),
  );

  const picture = drawing("svg");
  const box = element("div", { class: "cl-stage" }, picture);
  state.drawWide(box, (value, width) => {
    const { name, chances } = chosen(value);
    const height = 90,
      step = width / authors.length;
    const bars = chances.flatMap((p, i) => {
      if (!seen[value.book].has(i)) return [];
      const tall = Math.max(2, p * (height - 8));
      const tone = i === value.author ? "--second" : "--first";
      return drawing("rect", {
        x: i * step,
        y: height - 1 - tall,
        width: Math.max(2, step * 0.9),
        height: tall,
        style: `fill: var(${tone})`,
      });
    });
    const floor = drawing("path", { class: "cl-axis", d: `M0 ${height - 1}H${width}` });
    const title = `How probable ${name} is after each author that was asked about`;
    paint(picture, width, height, title, [floor, ...bars]);
  });

  const ask = slider(state, "author", "after", {
    min: 0,
    max: last,
    describe: (author) => `“${authors[author]} wrote”`,
  });
  const all = button(
    state,
    `Ask after all ${authors.length}`,
    (value) => {
      const { chances } = chosen(value);
      chances.forEach((_, i) => seen[value.book].add(i));
      return { author: chances.indexOf(Math.max(...chances)) };
    },
    { name: "all" },
  );
  const which = choice(
    state,
    "book",
    "book",
    books.map(({ name }, i) => [i, name]),
    { change: (book) => ({ book, author: 0 }) },
  );
  const tell = (value) => {
    const one = chosen(value),
      p = one.chances[value.author],
      count = seen[value.book].size;
    return (
      `After “${authors[value.author]} wrote”, GPT gives ${one.name} the probability ` +
      `${format(p, 3)}. Asked after ${count} of ${authors.length} authors.`
    );
  };
  const found = ({ book, author }) => books[book].chances[author] > 0.5;
  const named = ({ book, author }) => authors[author] === books[book].gpt;
  const missed = ({ book }) => books[book].other !== authors[books[book].author];
  const list = [
    { text: "Find the author of a book by asking GPT forwards.", reached: found },
    {
      text: "Ask about the author that GPT names backwards. How probable is the book after that name?",
      reached: named,
    },
    { text: "Find a book that the any-order network gets wrong.", reached: missed },
  ].filter(({ reached }) => {
    const start = state.value;
    if (reached(start)) return false;
    return books.some((_, book) => authors.some((__, author) => reached({ book, author })));
  });
  frame(
    el,
    "Who wrote this book?",
    element("div", { class: "cl-controls" }, which, all),
    table,
    element("div", { class: "cl-forwards" }, ask),
    box,
    answerList(state, "p", ({ book, author }) => [
      ["the book, after this author", books[book].chances[author]],
    ]),
    announce(state, tell),
    goals(state, list),
  );
  return state.close;
}

export default { render };
