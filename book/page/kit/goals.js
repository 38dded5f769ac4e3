// @ts-check
// Puzzles.

import { css, element } from "./dom.js";

css`
  .cl-goals p {
    margin: 0.9rem 0 0.15rem;
    font-weight: 600;
    font-size: 0.85rem;
  }
  .cl-goals ul {
    list-style: none;
    margin: 0;
    padding: 0;
  }
  .cl-goals li {
    display: flex;
    gap: 0.6rem;
    margin: 0;
    padding: 0.15rem 0;
    color: var(--quiet);
  }
  .cl-goals li::before {
    content: "";
    flex: none;
    width: 1.25rem;
    height: 1.25rem;
    margin-top: 0.1rem;
    border: 1.5px dashed var(--quiet); /* not the circle of a radio button, which a click sets */
    border-radius: 50%;
    text-align: center;
    font: 700 0.8rem/1.1rem sans-serif;
  }
  .cl-goals .cl-reached {
    color: var(--ink);
  }
  .cl-goals .cl-reached::before {
    content: "✓";
    color: var(--ground);
    background: var(--v-word);
    border: 1.5px solid var(--v-word);
  }
  .cl-hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
`;

/** Puzzles that check themselves: [{ text, reached(value) }]. Once reached, a goal stays reached.
    @param {State} state
    @param {Goal[]} list */
export function goals(state, list) {
  const spoken = element("span", { class: "cl-hidden", "aria-live": "polite" });
  const items = list.map(({ text }) => element("li", {}, text));
  state.draw((value) =>
    list.forEach(({ text, reached }, i) => {
      if (items[i].className || !reached(value)) return;
      items[i].className = "cl-reached";
      items[i].append(element("span", { class: "cl-hidden" }, " (reached)"));
      spoken.textContent = `Goal reached: ${text}`;
    }),
  );
  return element(
    "div",
    { class: "cl-goals" },
    element("p", {}, "Goals, ticked when you reach them"),
    element("ul", { "aria-label": "goals" }, items),
    spoken,
  );
}
