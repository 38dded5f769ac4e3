// @ts-check
// Tables, and texts with bars.

import { css, element, write } from "./dom.js";
import { clamp } from "./numerics.js";

css`
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
  @media (max-width: 30rem) {
    th,
    td {
      padding: 0.22rem 0.28rem;
    }
    td.cl-heat {
      padding: 0.3rem 0.22rem;
    }
  }
`;

/** Nodes of a table: its column headings, and a row under its heading. */
export const headRow = (...cells) => element("thead", {}, element("tr", {}, ...cells));

export const columnHead = (text) => element("th", { scope: "col" }, text);

export const tableRow = (heading, ...cells) =>
  element("tr", {}, element("th", { scope: "row" }, heading), ...cells);

/** A bar that fills its place by a share from 0 to 1; the number stands beside it. */
export function shareBar(share, attributes) {
  const bar = element("i", attributes);
  bar.style.setProperty("--w", share);
  return bar;
}

/** A table of numbers; `cells(value)` gives the matrix, `heat` colours the cells from 0 to 1.
    @param {State} state
    @param {string} caption
    @param {string[]} rows
    @param {string[]} columns
    @param {(value: Value) => number[][]} cells
    @param {{ heat?: boolean, digits?: number, name?: string }} [look] */
export function matrixTable(
  state,
  caption,
  rows,
  columns,
  cells,
  { heat = false, digits = 2, name } = {},
) {
  const shape = cells(state.value);
  const nodes = shape.map((row) =>
    row.map(() => element("td", { class: heat ? "cl-heat" : null })),
  );
  state.draw((value) =>
    cells(value).forEach((row, i) =>
      row.forEach((number, j) => {
        write(nodes[i][j], number, digits);
        nodes[i][j].style.setProperty("--w", String(clamp(number, 0, 1)));
      }),
    ),
  );
  return element(
    "table",
    { "data-name": name },
    element("caption", {}, caption),
    headRow(element("td"), columns.map(columnHead)),
    element(
      "tbody",
      {},
      nodes.map((row, i) => tableRow(rows[i], row)),
    ),
  );
}

/** Texts with a bar and a number; `rows(value)` gives [[text, share, what the number's node keeps]].
    @param {State} state
    @param {string} name
    @param {(value: Value) => [Child, number, Value?][]} rows */
export function answerList(state, name, rows, digits = 3) {
  const box = element("div", { class: "cl-answers", "data-name": name });
  state.draw((value) =>
    box.replaceChildren(
      ...rows(value).flatMap(([text, share, data]) => {
        const number = write(element("span"), share, digits);
        Object.assign(number.dataset, data);
        return [
          text instanceof Element ? text : element("span", {}, text),
          shareBar(Math.max(0, share), { "aria-hidden": "true" }),
          number,
        ];
      }),
    ),
  );
  return box;
}
