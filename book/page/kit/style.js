// @ts-check
// How live figures look, in the book, Jupyter, Colab and VS Code: each one's own colours where it has
// them, ours otherwise. Everything stands inside .cl; :not(#_) outweighs the rules of these pages.
// The concepts' colours, as in book.page.colours: var(--q) for a shape, var(--q-word) for a word.

import COLOURS from "../colours.json" with { type: "json" };

const tones = (scheme) =>
  Object.entries(COLOURS)
    .map(
      ([kind, tone]) => `--${kind}: ${tone[scheme].shape}; --${kind}-word: ${tone[scheme].word};`,
    )
    .join(" ");

export const STYLE = `
.cl:not(#_) {
  --plain-ink: #222832;
  --plain-quiet: #48566b;
  --plain-line: #c9cfd6;
  --plain-ground: #fff;
  --ink: var(
    --pst-color-text-base,
    var(
      --jp-content-font-color1,
      var(--vscode-editor-foreground, var(--colab-primary-text-color, var(--plain-ink)))
    )
  );
  --quiet: var(--pst-color-text-muted, var(--jp-content-font-color2, var(--plain-quiet)));
  --line: var(--pst-color-border, var(--jp-border-color2, var(--plain-line)));
  --ground: var(
    --pst-color-background,
    var(
      --jp-layout-color1,
      var(--vscode-editor-background, var(--colab-primary-surface-color, var(--plain-ground)))
    )
  );
  --first: #1a5fb4;
  --second: #a34a00;
  --heat: #3584e4;
  --hottest: 55%;
  ${tones("light")}
  color: var(--ink);
  font-size: 0.94rem;
  line-height: 1.4;
  max-width: 46rem;
  margin: 1rem 0 1.5rem;
  padding: 0.8rem 1.1rem 0.9rem;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  box-sizing: border-box;
  font-variant-numeric: tabular-nums;
  *,
  *::before {
    box-sizing: border-box;
  }
  p {
    margin: 0.6rem 0 0;
  }
  .cl-title {
    margin: 0 0 0.35rem;
    font-weight: 600;
  }
  .cl-controls {
    display: flex;
    flex-wrap: wrap;
    gap: 0.6rem 1.4rem;
    align-items: end;
    margin-bottom: 0.9rem;
  }
  .cl-controls:not(:has(.cl-control)) {
    gap: 0.6rem; /* buttons alone */
  }
  :is(.cl-stepper, p:not(.cl-title)) + .cl-controls {
    margin-top: 0.9rem;
  }
  .cl-control {
    display: grid;
    grid-template-columns: minmax(0, auto);
    gap: 0.15rem;
    min-width: 0;
    max-width: 100%;
    color: var(--quiet);
    font-size: 0.86rem;
  }
  .cl-control b {
    color: var(--ink);
    font-weight: 600;
  }
  :is(input, select, textarea, button) {
    font: inherit;
    font-size: 0.92rem;
    color: var(--ink);
    background: var(--ground);
    border: 1px solid var(--line);
    border-radius: 0.3rem;
    padding: 0.25rem 0.45rem;
    margin: 0;
    min-height: 2rem;
    accent-color: var(--first);
    max-width: 100%;
  }
  input[type="range"] {
    padding: 0;
    border: 0;
    background: none;
    width: 13rem;
    min-height: 1.6rem;
  }
  input:is([type="checkbox"], [type="radio"]) {
    min-height: 0;
    width: 1.05rem;
    height: 1.05rem;
    padding: 0;
  }
  input[type="number"] {
    width: 2.75rem;
    padding: 0.25rem 0.3rem;
    text-align: right;
    -moz-appearance: textfield;
  }
  input[type="number"]::-webkit-inner-spin-button {
    display: none;
  }
  input[aria-invalid="true"] {
    border: 2px dashed var(--second);
  }
  button {
    cursor: pointer;
    padding: 0.25rem 0.8rem;
  }
  summary {
    min-height: 24px;
  }
  button.cl-main {
    border: 1.5px solid var(--first);
    color: var(--first);
    font-weight: 600;
  }
  button:hover,
  select:hover {
    border-color: var(--first);
  }
  :disabled {
    opacity: 0.5;
    cursor: default;
  }
  :focus-visible {
    outline: 2px solid var(--first);
    outline-offset: 2px;
  }
  fieldset {
    border: 0;
    margin: 0;
    padding: 0;
    min-width: 0;
  }
  legend {
    font-size: 0.86rem;
    color: var(--quiet);
    padding: 0;
    margin: 0 0 0.25rem;
    float: none;
    width: auto;
  }
  .cl-question {
    display: grid;
    gap: 0.35rem;
  }
  .cl-question[hidden],
  .cl-controls[hidden],
  label[hidden] {
    display: none;
  }
  .cl-question legend {
    font-size: 1rem;
    line-height: 1.5;
    color: var(--ink);
    margin: 0 0 0.6rem;
  }
  .cl-question label {
    display: grid;
    grid-template-columns: auto 1fr;
    gap: 0.6rem;
    align-items: start;
    padding: 0.3rem 0.4rem;
    border-radius: 0.3rem;
    cursor: pointer;
  }
  .cl-question label:has(:checked) {
    background: color-mix(in oklab, var(--heat) 14%, transparent);
  }
  .cl-question input {
    margin-top: 0.15rem;
  }
  .cl-score {
    color: var(--quiet);
    font-size: 0.86rem;
  }
  code {
    font-size: 0.88em;
    color: var(--ink);
    background: color-mix(in oklab, var(--heat) 10%, transparent);
    border: 0;
    border-radius: 0.2rem;
    padding: 0.05rem 0.25rem;
  }
  .cl-side {
    display: flex;
    flex-wrap: wrap;
    gap: 1rem 1.6rem;
    align-items: start;
  }
  .cl-scroll {
    overflow-x: auto; /* the book fades it where it goes on */
  }
  .cl-say {
    display: block;
    margin: 0.9rem 0 0;
    padding: 0.1rem 0 0.1rem 0.8rem;
    border-left: 3px solid var(--first);
    min-height: 1.4em;
  }
  svg {
    display: block;
    overflow: visible;
    max-width: 100%;
    height: auto;
  }
  svg text {
    fill: var(--ink);
    font-size: 13px;
    font-family: inherit;
  }
  svg .cl-quiet {
    fill: var(--quiet);
  }
  .cl-q {
    --tone: var(--q);
    --word: var(--q-word);
    --under: solid 2px;
  }
  .cl-k {
    --tone: var(--k);
    --word: var(--k-word);
    --under: dashed 2px;
  }
  .cl-v {
    --tone: var(--v);
    --word: var(--v-word);
    --under: dotted 2px;
  }
  .cl-position {
    --tone: var(--position);
    --word: var(--position-word);
    --under: double 2px;
  }
  .cl-attention {
    --tone: var(--attention);
    --word: var(--attention-word);
    --under: solid 4px;
  }
  .cl-stream {
    --tone: var(--stream);
    --word: var(--stream-word);
    --under: none;
  }
  /* What has no concept's colour: what a model says, and what was measured or is true. */
  .cl-model {
    --tone: var(--first);
    --word: var(--first);
  }
  .cl-measure {
    --tone: var(--second);
    --word: var(--second);
  }
  b[class] {
    color: var(--word);
    font-weight: 650;
    text-decoration: underline var(--under);
    text-underline-offset: 0.2em;
  }
  .cl-tint,
  .cl-tip {
    fill: var(--tone);
  }
  .cl-paper {
    fill: var(--ground);
  }
  .cl-edge,
  .cl-rule,
  .cl-shaft {
    fill: none;
    stroke: var(--tone);
  }
  .cl-edge {
    stroke-width: 1.5;
  }
  .cl-hit {
    fill: transparent;
  }
  .cl-unit {
    fill: color-mix(in oklab, var(--ink) 6%, var(--ground));
    stroke: var(--line);
  }
  .cl-line {
    fill: none;
    stroke: var(--ink);
    stroke-width: 1.5;
  }
  .cl-captions :is(sub, sup) {
    line-height: 0;
  }
  button[aria-disabled="true"] {
    opacity: 0.5;
    cursor: default;
  }
  .cl-stack {
    display: grid; /* what is shown in turn has the room of the highest */
  }
  .cl-stack > * {
    grid-area: 1 / 1;
    min-width: 0;
  }
  .cl-stack > [hidden] {
    display: block;
    visibility: hidden;
  }
  .cl-captions {
    display: grid;
    overflow-wrap: anywhere; /* names and lines of code are longer than a phone is wide */
  }
  .cl-captions > * {
    grid-area: 1 / 1;
    margin: 0.9rem 0 0;
    padding: 0.1rem 0 0.1rem 0.8rem;
  }
  .cl-captions > .cl-say {
    align-self: start; /* its bar is as long as it is */
  }
  .cl-captions > p {
    border-left: 3px solid; /* breaks its lines where the caption does */
    visibility: hidden;
  }
  .cl-stage .cl-tiny {
    font-size: 11px;
  }
  .cl-bar-of-answer {
    fill: var(--first);
  }
  .cl-truth {
    fill: none;
    stroke: var(--first);
    stroke-width: 1.8;
  }
  .cl-seen {
    fill: var(--first);
  }
  .cl-own-point {
    fill: var(--ground);
    stroke: var(--second);
    stroke-width: 1.8;
  }
  .cl-pairs {
    display: grid;
    grid-template-columns: max-content max-content;
    gap: 0.1rem 0.8rem;
    margin: 0.4rem 0 0.6rem;
    dt {
      color: var(--quiet);
      font-weight: 400;
    }
    dd {
      margin: 0;
    }
  }
  .cl-axis {
    fill: none;
    stroke: var(--line);
  }
  .cl-ring {
    fill: var(--ground);
    stroke: var(--first);
    stroke-width: 2.5;
  }
  .cl-found {
    fill: var(--second);
  }
  .cl-gap {
    stroke: var(--second);
    stroke-width: 2;
    stroke-dasharray: 3 3;
  }
  path.cl-guessed {
    fill: none;
    stroke: var(--first);
    stroke-width: 2;
    stroke-dasharray: 5 4;
  }
  .cl-marks {
    display: flex;
    flex-wrap: wrap;
    gap: 0.1rem 1.4rem;
    margin: 0 0 0.6rem;
    color: var(--quiet);
    font-size: 0.88rem;
  }
}
:is([data-theme="dark"], [data-jp-theme-light="false"], .vscode-dark, [theme="dark"]) .cl:not(#_) {
  --plain-ink: #d5dbe1;
  --plain-quiet: #a4acb8;
  --plain-line: #48566b;
  --plain-ground: #121212;
  --first: #8ab4f8;
  --second: #f2a65a;
  --heat: #5b8fd9;
  --hottest: 32%; /* light words on it */
  ${tones("dark")}
  color-scheme: dark;
}
[data-theme="dark"] .output.text_html:has(.companion-live):not(#_) {
  background: none;
  color: inherit;
  padding: 0;
}
@media (prefers-reduced-motion: reduce) {
  .cl:not(#_) i {
    transition: none !important;
  }
}
@media (max-width: 30rem) {
  .cl:not(#_) {
    padding: 0.8rem 0.7rem;
    input[type="range"] {
      width: 100%;
    }
    .cl-wide {
      width: 100%;
    }
  }
}
@media print {
  .cl:not(#_) .cl-controls {
    display: none;
  }
  .cl:not(#_) .cl-question[hidden] {
    display: grid !important; /* as the theme hides it */
    margin-top: 1rem;
  }
}
`;
