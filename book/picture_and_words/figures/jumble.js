// A picture, and a caption whose words change places: what several pairs of encoders say of the two.

import { choice, connect } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame, paint } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { answerList } from "../../page/kit/tables.js";
import { digitAt } from "../pixels.js";

css`
  .cl-caption-words {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem;
    margin: 0.4rem 0 0.9rem;
  }
  .cl-caption-words button {
    min-width: 6.5rem;
    font-weight: 600;
  }
  .cl-caption-words [aria-pressed="true"] {
    outline: 3px solid var(--first);
  }
`;

const SIDE = 84;

function render({ model, el }) {
  const { pictures, inks, orders, scores, far } = model.get("data");
  const state = connect(model);
  const names = Object.keys(scores);
  const number = ({ order }) => orders.findIndex((one) => one.join() === order.join());
  const score = (name, value, which = number(value)) =>
    scores[name][value.picture][value.caption][which];
  const isOwn = ({ picture, caption }) => picture === caption;
  const isJumbled = (value) => isOwn(value) && number(value) > 0;

  const svg = drawing("svg", { "data-name": "picture" });
  state.draw(({ picture }) => {
    const { pixels, kinds } = pictures[picture];
    paint(
      svg,
      3 * SIDE + 16,
      SIDE,
      `Picture ${picture + 1}, three coloured digits in a row`,
      pixels.map((digit, i) =>
        digitAt(digit, {
          x: SIDE / 2 + i * (SIDE + 8),
          y: SIDE / 2,
          side: SIDE,
          ink: inks[Math.floor(kinds[i] / 10)],
        }),
      ),
    );
  });

  const press = (place) => {
    const { order, held } = state.value;
    if (held === place || held < 0) return state.set({ held: held < 0 ? place : -1 });
    const next = order.slice();
    [next[place], next[held]] = [next[held], next[place]];
    return state.set({ order: next, held: -1 });
  };
  const words = [0, 1, 2].map((place) => {
    const node = element("button", { type: "button", "aria-pressed": "false" });
    node.addEventListener("click", () => press(place));
    state.draw(({ caption, order, held }) => {
      node.textContent = pictures[caption].words[order[place]];
      node.setAttribute("aria-pressed", String(held === place));
    });
    return node;
  });

  const tell = (value) => {
    if (value.held >= 0) return "Press the word that it is to change places with.";
    const said = names.map((name) => `${name} ${format(score(name, value))}`).join(", ");
    if (!isOwn(value)) return `A caption of another picture. ${said}.`;
    if (!isJumbled(value)) return `Its own caption. ${said}.`;
    const kept = names.filter((name) => score(name, value) >= score(name, value, 0));
    const liked = kept.length ? `no lower than in the right order for ${kept.join(" and ")}` : "";
    return `Its own words in another order. ${said}${liked && `; ${liked}`}.`;
  };
  frame(
    el,
    "Press two words",
    element(
      "div",
      { class: "cl-controls" },
      choice(
        state,
        "picture",
        "picture",
        pictures.map((_, i) => [i, `picture ${i + 1}`]),
      ),
      choice(
        state,
        "caption",
        "caption",
        pictures.map(({ words: of }, i) => [i, of.join(" ")]),
        { change: (caption) => ({ caption, order: [0, 1, 2], held: -1 }) },
      ),
    ),
    svg,
    element("div", { class: "cl-caption-words", role: "group", "aria-label": "caption" }, words),
    answerList(state, "scores", (value) => names.map((name) => [name, score(name, value)]), 2),
    announce(state, tell),
    goals(state, [
      { text: "Find the caption of a picture.", reached: isOwn },
      {
        text: `Swap words so that “${names[0]}” likes the caption no less than before.`,
        reached: (value) => isJumbled(value) && score(names[0], value) >= score(names[0], value, 0),
      },
      {
        text: `Swap words so that “${names[1]}” takes ${format(far, 1)} or more from the score.`,
        reached: (value) =>
          isJumbled(value) && score(names[1], value, 0) - score(names[1], value) >= far,
      },
    ]),
  );
  return state.close;
}

export default { render };
