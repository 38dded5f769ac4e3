// @ts-check
// What the reader writes: a line for it, its words, and what is wrong with them for a translator.

import { css, element } from "./dom.js";

css`
  .cl-write {
    display: flex;
    flex-wrap: wrap;
    gap: 0.6rem;
    align-items: center;
  }
  .cl-write input {
    flex: 1 1 8rem;
    max-width: min(26rem, 100%);
    min-width: 0;
  }
  [role="alert"] button {
    margin: 0 0 0 0.4rem;
    min-height: 1.7rem;
    padding: 0.1rem 0.6rem;
    border-radius: 1rem;
  }
`;

/** The words of a text, small letters without marks.
    @param {string} text */
export const wordsOf = (text) =>
  text
    .toLowerCase()
    .replace(/[.,!?]/g, " ")
    .split(/\s+/)
    .filter(Boolean);

/** A line for the reader's own words, and what is wrong with them: { input, alert }, both to be placed.
    `complaint(text)` is "" where nothing is; `change(text, value)` gives the changes of the state, or
    null while what was there still counts; `offers(text)` gives texts that would do, by the words that
    buttons beside the complaint show.
    @param {State} state
    @param {string} key
    @param {{ change: (text: string, value: Value) => Value | null, complaint: (text: string) => string,
     offers?: (text: string) => Record<string, string>, [attribute: string]: any }} how */
export function textInput(state, key, { change, complaint, offers = () => ({}), ...attributes }) {
  const input = element("input", {
    type: "text",
    name: key,
    autocomplete: "off",
    autocapitalize: "none",
    spellcheck: "false",
    ...attributes,
  });
  const alert = element("p", { role: "alert" });
  const judge = () => {
    alert.textContent = complaint(input.value);
    alert.hidden = alert.textContent === "";
    if (!alert.hidden) alert.append(...Object.entries(offers(input.value)).map(offer));
    input.setAttribute("aria-invalid", String(!alert.hidden));
  };
  const take = () => {
    judge();
    const changes = change(input.value, state.value);
    if (changes) state.set(changes);
  };
  const offer = ([word, text]) => {
    const chip = element("button", { type: "button", "data-lm-suppress-shortcuts": true }, word);
    chip.addEventListener("click", () => {
      input.value = text;
      input.focus();
      take();
    });
    return chip;
  };
  input.addEventListener("input", take);
  state.draw((value) => {
    if (input.matches(":focus")) return; // somebody writes
    input.value = value[key];
    judge();
  });
  return { input, alert };
}

/** The number of letters to change, insert or drop on the way from one word to the other. */
function editDistance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + Number(a[i - 1] !== b[j - 1])));
    }
    row = next;
  }
  return row[b.length];
}

const unknownIn = ({ english }, text) => wordsOf(text).find((word) => !english.includes(word));

/** The known words that are nearest to a word, the nearest first. */
const nearest = ({ english }, word) =>
  [...english].sort((a, b) => editDistance(word, a) - editDistance(word, b));

/** What is wrong with a sentence for a translator, or "". */
export function untranslatable(data, text) {
  const sentence = wordsOf(text),
    { english, longest_source: longest } = data;
  if (sentence.length === 0) return "Write a sentence of words that the model knows.";
  if (sentence.length > longest) {
    return `That is ${sentence.length} words; this figure reads at most ${longest}.`;
  }
  const unknown = unknownIn(data, text);
  if (unknown === undefined) return "";
  return `The model does not know “${unknown}”. The nearest of its ${english.length} English words is “${nearest(data, unknown)[0]}”.`;
}

/** The text with its first unknown word replaced, by the five known words that are nearest to it. */
export function withKnownWords(data, text) {
  const unknown = unknownIn(data, text);
  if (unknown === undefined) return {};
  const better = (word) =>
    wordsOf(text)
      .map((old) => (old === unknown ? word : old))
      .join(" ");
  return Object.fromEntries(
    nearest(data, unknown)
      .slice(0, 5)
      .map((word) => [word, better(word)]),
  );
}

/** The English words that a translator knows, to be unfolded. */
export const knownWords = ({ english }) =>
  element(
    "details",
    {},
    element("summary", {}, `The ${english.length} words it knows`),
    element("p", { style: "font-size: .86rem" }, english.join(" · ")),
  );
