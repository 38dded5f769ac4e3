// A text of the reader's choice, as a published tokenizer cuts it. The cuts are recorded.

import { choice, connect } from "../../page/kit/controls.js";
import { announce, css, element, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";

css`
  .cl-cut {
    display: flex;
    flex-wrap: wrap;
    gap: 0.3rem;
    list-style: none;
    margin: 0.2rem 0 0;
    padding: 0;
    min-height: 6.4rem;
    align-content: start;
  }
  .cl-cut li {
    margin: 0;
    padding: 0.15rem 0.4rem;
    border: 1.2px solid var(--line);
    border-radius: 0.35rem;
    background: color-mix(in oklab, var(--ink) 6%, var(--ground));
    font-family: ui-monospace, monospace;
    font-size: 0.9rem;
    white-space: pre;
  }
`;

/** A piece with its spaces and ends of lines to be seen; one that is part of a character is a box. */
const visible = (piece) =>
  piece.includes("\uFFFD") ? "▯" : piece.replaceAll(" ", "␣").replaceAll("\n", "⏎");

function render({ model, el }) {
  const { texts } = model.get("data");
  const state = connect(model);
  const now = ({ text }) => texts[text];
  const cut = element("ol", { class: "cl-cut", "data-name": "cut", "aria-label": "tokens" });
  const count = element("b", { "data-name": "count" });
  state.draw((value) => {
    const { pieces } = now(value);
    cut.replaceChildren(...pieces.map((piece) => element("li", {}, visible(piece))));
    write(count, pieces.length, 0);
  });
  const tell = (value) => {
    const { pieces, characters } = now(value);
    const parts = pieces.filter((piece) => piece.includes("\uFFFD")).length;
    return (
      `${pieces.length} tokens for ${characters} characters.` +
      (parts ? ` ${parts} of them (▯) are only a part of a character.` : "")
    );
  };
  const every = texts.map((_, text) => ({ text }));
  const choose = choice(
    state,
    "text",
    "the text",
    texts.map(({ name }, i) => [i, name]),
  );
  frame(
    el,
    "As a published model reads it",
    element("div", { class: "cl-controls" }, choose, element("span", {}, "tokens: ", count)),
    cut,
    announce(state, tell, every.map(tell)),
    goals(state, [
      {
        text: "Find a text that takes more tokens than it has characters.",
        reached: (value) => now(value).pieces.length > now(value).characters,
      },
      {
        text: "Find a text that is one token.",
        reached: (value) => now(value).pieces.length === 1,
      },
    ]),
  );
  return state.close;
}

export default { render };
