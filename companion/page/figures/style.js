// How live figures look, in the book, Jupyter, Colab and VS Code: each one's own colours where it has
// them, ours otherwise. Everything stands inside .cl; :not(#_) outweighs the rules of these pages.
// The concepts' colours, as in companion.page.colours: var(--q) for a shape, var(--q-word) for a word.

import COLOURS from "../colours.json" with { type: "json" };

const tones = (scheme) =>
  Object.entries(COLOURS)
    .map(([kind, { [scheme]: tone }]) => `--${kind}: ${tone.shape}; --${kind}-word: ${tone.word};`)
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
  padding: 1rem 1.1rem 1.1rem;
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
    margin: 0 0 0.8rem;
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
  .cl-control.cl-inline {
    grid-template-columns: auto 1fr;
    align-items: center;
    gap: 0.45rem;
    color: var(--ink);
  }
  .cl-control b {
    color: var(--ink);
    font-weight: 600;
  }
  input,
  select,
  button {
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
  input[type="checkbox"],
  input[type="radio"] {
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
  .cl-tabs {
    display: flex;
    flex-wrap: wrap;
    gap: 0;
    margin-bottom: 1rem;
  }
  .cl-tabs legend {
    position: absolute;
    clip-path: inset(50%);
  }
  .cl-tabs label {
    border: 1px solid var(--line);
    margin-left: -1px;
    padding: 0.3rem 0.8rem;
    cursor: pointer;
    display: flex;
    gap: 0.4rem;
    align-items: center;
  }
  .cl-tabs label:has(:checked) {
    background: color-mix(in oklab, var(--heat) 18%, transparent);
  }
  .cl-question {
    display: grid;
    gap: 0.35rem;
  }
  .cl-question[hidden],
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
  .cl-quiz {
    margin: 0.9rem 0 0;
    align-items: center;
  }
  .cl-score {
    color: var(--quiet);
    font-size: 0.86rem;
  }
  .cl-others {
    margin: 0.6rem 0 0;
    padding: 0 0 0 0.95rem;
    border: 0;
    background: none;
    box-shadow: none;
  }
  .cl-others summary {
    cursor: pointer;
    width: max-content;
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
    overflow-x: auto;
  }
  table {
    border-collapse: collapse;
    margin: 0;
    border: 0;
    font-size: 0.9rem;
    width: auto;
    color: var(--ink);
    display: table;
  }
  caption {
    caption-side: top;
    text-align: left;
    color: var(--quiet);
    font-size: 0.86rem;
    padding: 0 0 0.3rem;
    margin: 0;
    font-style: normal;
  }
  tr,
  tr:nth-child(odd),
  tr:hover {
    background: none;
    border: 0;
  }
  th,
  td {
    border: 0;
    padding: 0.22rem 0.45rem;
    text-align: right;
    font-weight: 400;
    background: none;
    vertical-align: middle;
    color: var(--ink);
    white-space: nowrap;
    max-width: none;
  }
  thead th {
    color: var(--quiet);
    font-size: 0.84rem;
    vertical-align: bottom;
  }
  th[scope="row"],
  thead th:first-child {
    text-align: left;
  }
  .cl-counts {
    width: 100%;
    margin-top: 0.8rem;
  }
  .cl-counts th,
  .cl-counts td {
    white-space: normal;
    border-top: 1px solid var(--line);
    padding: 0.35rem 0.4rem;
  }
  .cl-counts thead th {
    border-top: 0;
  }
  .cl-counts th[scope="row"] {
    white-space: nowrap;
  }
  .cl-off {
    text-decoration: line-through;
  }
  td.cl-heat {
    background: color-mix(in oklab, var(--attention) calc(var(--w) * var(--hottest)), transparent);
    border: 1px solid var(--ground);
    padding: 0.3rem 0.5rem;
  }
  td.cl-input {
    padding: 0.1rem 0.12rem;
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
  /* The whole model (translator.js): links are stages, what moves is drawn over them. */
  .cl-whole {
    position: relative;
    margin: 1.2rem 0 0.4rem;
    container-type: inline-size;
    svg {
      margin-inline: auto;
    }
    .cl-middle {
      text-anchor: middle;
    }
    .cl-end {
      text-anchor: end;
    }
    .cl-small {
      font-size: 12px;
    }
    .cl-panel {
      fill: color-mix(in oklab, var(--ink) 4%, var(--ground));
      stroke: transparent;
    }
    .cl-frame {
      fill: none;
      stroke: var(--line);
      stroke-dasharray: 5 4;
    }
    .cl-backing {
      fill: var(--ground);
    }
    .cl-hit {
      fill: transparent;
    }
    .cl-loop {
      fill: none;
      stroke: var(--quiet);
      stroke-width: 1.5;
      stroke-dasharray: 2 4;
    }
    .cl-tipped {
      fill: none;
      stroke: var(--quiet);
      stroke-width: 1.5;
    }
    .cl-door {
      text-decoration: none;
      text {
        fill: var(--quiet);
      }
      &:focus-visible {
        outline: none;
      }
      &:is(:hover, :focus-visible, .cl-open) {
        text {
          fill: var(--ink);
        }
        .cl-panel,
        .cl-frame,
        .cl-loop,
        .cl-tipped {
          stroke: var(--ink);
          stroke-width: 1.5;
        }
      }
      &:focus-visible :is(.cl-panel, .cl-frame, .cl-loop) {
        stroke: var(--first);
        stroke-width: 3;
      }
    }
    a.cl-door {
      cursor: pointer;
      &:is(:hover, :focus-visible) text {
        text-decoration: underline;
      }
    }
    .cl-moving {
      pointer-events: none;
      text {
        fill: var(--quiet);
      }
      text.cl-now {
        fill: var(--ink);
        font-weight: 600;
      }
    }
    .cl-rail {
      fill: none;
      stroke: var(--stream);
      stroke-width: 2;
      &.cl-now {
        stroke: var(--ink);
      }
    }
    .cl-chip {
      fill: var(--ground);
      stroke: var(--line);
      &.cl-now {
        stroke: var(--ink);
        stroke-width: 1.5;
      }
    }
    .cl-number-cell {
      fill: var(--ink);
    }
    .cl-position-cells .cl-number-cell {
      fill: var(--position);
    }
    .cl-look {
      fill: none;
      stroke: var(--attention);
      opacity: 0.2;
      &.cl-now {
        opacity: 1;
      }
    }
    .cl-query {
      fill: var(--q);
    }
    .cl-key {
      fill: var(--k);
    }
    .cl-value {
      fill: var(--v);
    }
    .cl-faint {
      opacity: 0.3;
    }
    .cl-shade {
      fill: var(--stream);
    }
    .cl-edge6 {
      fill: none;
      stroke: var(--stream);
      stroke-width: 1.2;
      &.cl-now {
        stroke: var(--ink);
        stroke-width: 1.5;
      }
    }
    .cl-track {
      fill: var(--line);
      opacity: 0.6;
    }
    .cl-bar6 {
      fill: var(--quiet);
      &.cl-now {
        fill: var(--ink);
      }
    }
  }
  .cl-about {
    border-left: 3px solid var(--line);
    margin-top: 1rem;
    min-height: 6.6rem;
    padding: 0 0 0 1rem;
    font-size: 0.88rem;
    b {
      font-weight: 600;
    }
    p {
      margin: 0.3rem 0 0;
    }
    > b {
      font-size: 1rem;
    }
  }
  .cl-wide-scene .cl-about {
    position: absolute;
    right: 0;
    top: 0;
    width: 30%;
  }
  .cl-said {
    display: flex;
    flex-wrap: wrap;
    gap: 0.2rem 0.7rem;
    font-size: 1.35rem;
    list-style: none;
    margin: 0.4rem 0 0.8rem;
    min-height: 2.2rem;
    padding: 0;
  }
  .cl-write {
    grid-template-columns: max-content minmax(0, 26rem);
    gap: 0.6rem;
    align-items: center;
  }
  .cl-answers {
    display: grid;
    grid-template-columns: max-content minmax(4rem, 14rem) max-content;
    gap: 0.2rem 0.7rem;
    align-items: center;
    margin: 0;
  }
  :is(p, .cl-control) + .cl-answers {
    margin-top: 0.4rem;
  }
  .cl-answers + table {
    margin-top: 0.8rem;
  }
  .cl-answers i {
    display: block;
    height: 0.7rem;
    width: calc(var(--w) * 100%);
    min-width: 1px;
    background: var(--tone, var(--first));
    border-radius: 2px;
    transition: width 0.25s ease-out;
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
  .cl-stage {
    margin: 0.4rem 0 0.2rem;
  }
  .cl-stage svg {
    user-select: none;
    -webkit-user-select: none;
  }
  .cl-stage text {
    text-anchor: middle;
  }
  .cl-stage .cl-start {
    text-anchor: start;
  }
  .cl-stage .cl-end {
    text-anchor: end;
  }
  .cl-stage .cl-over {
    paint-order: stroke;
    stroke: var(--ground);
    stroke-width: 4px;
  }
  .cl-stage .cl-strong {
    font-weight: 650;
  }
  .cl-stage .cl-own {
    fill: var(--word);
  }
  .cl-stage .cl-sub {
    font-size: 12px;
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
  .cl-rule {
    opacity: 0.4;
  }
  .cl-token rect {
    fill: color-mix(in oklab, var(--ink) 6%, var(--ground));
    stroke: var(--line);
    stroke-width: 1.2;
  }
  .cl-token text {
    font-size: 14px;
    font-weight: 600;
  }
  .cl-token[role="button"] {
    cursor: pointer;
  }
  .cl-token[role="button"]:hover rect {
    stroke: var(--first);
  }
  .cl-token.cl-pressed rect {
    stroke: var(--ink);
    stroke-width: 2.5;
  }
  .cl-token:focus,
  .cl-handle:focus {
    outline: none;
  }
  .cl-token:focus-visible rect,
  .cl-handle:focus-visible .cl-knob {
    stroke: var(--first);
    stroke-width: 3.5;
  }
  .cl-handle {
    cursor: grab;
    display: block; /* touch-action is not for what is inline, as a drawing's parts are */
    touch-action: none;
  }
  .cl-handle:active {
    cursor: grabbing;
  }
  .cl-hit {
    fill: transparent;
  }
  .cl-barred {
    fill: none;
    stroke: var(--quiet);
  }
  .cl-unit {
    fill: color-mix(in oklab, var(--ink) 6%, var(--ground));
    stroke: var(--line);
  }
  .cl-share {
    fill: color-mix(in oklab, var(--tone) calc(25% + var(--w) * 75%), var(--ground));
    stroke: var(--ground);
  }
  .cl-line {
    fill: none;
    stroke: var(--ink);
    stroke-width: 1.5;
  }
  .cl-steps {
    margin-top: 0.5rem;
  }
  .cl-steps input[type="range"] {
    display: block;
    width: calc(100% - 100% / var(--steps) + 1rem);
    margin: 0 auto;
  }
  .cl-steps div {
    display: grid;
    grid-template-columns: repeat(var(--steps), 1fr);
    color: var(--quiet);
    font-size: 0.8rem;
    text-align: center;
    cursor: pointer;
  }
  .cl-steps .cl-now {
    color: var(--ink);
    font-weight: 600;
  }
  .cl-stepper .cl-controls {
    gap: 0.5rem;
    margin: 0.6rem 0 0;
    align-items: center;
  }
  .cl-stepper .cl-score {
    min-height: 1.4em;
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
  .cl-predict + .cl-captions > * {
    margin-top: 0;
  }
  .cl-captions > p {
    border-left: 3px solid; /* breaks its lines where the caption does */
    visibility: hidden;
  }
  .cl-predict {
    margin: 0.4rem 0 0.9rem;
  }
  .cl-predict legend {
    font-weight: 600;
  }
  .cl-predict .cl-controls {
    margin: 0.4rem 0 0;
  }
  .cl-predict .cl-control {
    display: block;
    padding: 0;
    cursor: auto;
  }
  .cl-predict .cl-control input {
    display: block;
    width: 100%;
    margin: 0.2rem 0 0;
  }
  .cl-few {
    display: flex;
    flex-wrap: wrap;
    gap: 0.35rem 0.8rem;
  }
  .cl-few label {
    position: relative;
    padding-right: 1.5rem;
  }
  .cl-few .cl-true::after {
    position: absolute;
    right: 0.4rem;
    top: 0.25rem;
  }
  .cl-few .cl-controls {
    flex-basis: 100%;
  }
  .cl-predict .cl-true {
    outline: 2px solid var(--first);
  }
  .cl-predict .cl-true::after {
    content: "✓";
    grid-area: 1 / 3;
  }
  .cl-crowd0 {
    --tone: var(--first);
    fill: var(--first);
  }
  .cl-crowd1 {
    --tone: var(--second);
    fill: var(--second);
  }
  .cl-cut {
    fill: none;
    stroke: var(--first);
    stroke-width: 1.2;
  }
  .cl-held {
    fill: none;
    stroke: var(--second);
    stroke-width: 3;
  }
  .cl-frame-of-mark {
    fill: none;
    stroke: var(--first);
    stroke-width: 2;
    stroke-dasharray: 4 3;
  }
  .cl-badge {
    paint-order: stroke;
    stroke: var(--ground);
    stroke-width: 5;
  }
  .cl-piece {
    fill: none;
    stroke: var(--quiet);
    stroke-width: 1;
  }
  .cl-piece.cl-chosen {
    stroke: var(--second);
    stroke-width: 3;
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
  .cl-back {
    stroke: var(--second);
    stroke-dasharray: 5 4;
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
  .cl-homonym {
    --tone: var(--ink);
  }
  .cl-stranger {
    fill: none;
    stroke: var(--quiet);
    stroke-width: 1.5;
  }
  .cl-axis {
    fill: none;
    stroke: var(--line);
  }
  .cl-place {
    fill: var(--line);
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
  path.cl-measured {
    fill: none;
    stroke: var(--second);
    stroke-width: 3;
  }
  .cl-legend {
    display: flex;
    gap: 1.2rem;
    color: var(--quiet);
    font-size: 0.86rem;
  }
  .cl-legend span::before {
    content: "";
    display: inline-block;
    width: 1.6rem;
    margin-right: 0.4rem;
    vertical-align: middle;
    border-top: 2px dashed var(--first);
  }
  .cl-legend .cl-measured::before {
    border-top: 3px solid var(--second);
  }
  .cl-marks {
    display: flex;
    flex-wrap: wrap;
    gap: 0.1rem 1.4rem;
    margin: 0 0 0.6rem;
    color: var(--quiet);
    font-size: 0.88rem;
  }
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
.cl.cl-translator:not(#_) {
  max-width: none;
  padding: 0;
  border: 0;
  .cl-tabs {
    gap: 0.4rem;
    margin-bottom: 0.5rem;
  }
  .cl-tabs label {
    border-radius: 99px;
    margin: 0;
    font-size: 0.88rem;
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
    .cl-stage text {
      font-size: 12px;
    }
    .cl-steps div {
      display: none;
    }
    .cl-stepper .cl-long {
      flex-basis: 100%; /* whether it would fit or not, so that no step is higher */
    }
    .cl-steps input[type="range"] {
      width: 100%;
    }
    .cl-words li {
      min-width: 2.2rem;
      padding: 0 0.1rem;
    }
    .cl-bar {
      height: 3rem;
    }
    .cl-tabs label {
      padding: 0.3rem 0.5rem;
    }
    th,
    td {
      padding: 0.22rem 0.28rem;
    }
    td.cl-heat {
      padding: 0.3rem 0.22rem;
    }
  }
}
@media print {
  .cl:not(#_) .cl-controls {
    display: none;
  }
  .cl:not(#_) .cl-question[hidden] {
    display: grid;
    margin-top: 1rem;
  }
}
`;
