// @ts-check
// Words side by side, each with what it gets below or above it.

import { css, element } from "./dom.js";

css`
  .cl-words {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem 0.1rem;
    list-style: none;
    margin: 0.4rem 0 0.2rem;
    padding: 0;
  }
  .cl-words li {
    display: grid;
    justify-items: center;
    min-width: 2.5rem;
    padding: 0 0.22rem;
    margin: 0;
  }
  .cl-bar {
    width: 1.7rem;
    height: 4rem;
    border-bottom: 1px solid var(--line);
    display: flex;
    align-items: end;
  }
  .cl-bar i {
    display: block;
    width: 100%;
    height: calc(var(--w) * 100%);
    background: var(--attention);
    border-radius: 2px 2px 0 0;
    transition: height 0.25s ease-out;
  }
  .cl-words .cl-word {
    padding: 0.1rem 0.25rem;
    border-radius: 0.25rem;
  }
  .cl-words .cl-from .cl-word {
    outline: 2px solid var(--second);
  }
  .cl-words .cl-most .cl-word {
    font-weight: 700;
  }
  .cl-words .cl-number {
    font-size: 0.8rem;
    color: var(--quiet);
  }
  .cl-words .cl-most .cl-number {
    color: var(--ink);
    font-weight: 700;
  }
  @media (max-width: 30rem) {
    .cl-words li {
      min-width: 2.2rem;
      padding: 0 0.1rem;
    }
    .cl-bar {
      height: 3rem;
    }
  }
`;

/** A list for words. An item has a "cl-word" and may have a "cl-bar" and a "cl-number"; "cl-from" frames its
    word, "cl-most" is the one that gets most.
    @param {Attributes} attributes */
export const wordList = (attributes) => element("ol", { class: "cl-words", ...attributes });
