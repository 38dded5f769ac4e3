// Scaled dot-product attention on vectors that the reader edits: scores, weights, output.

import { button, connect, slider, toggle } from "../../page/kit/controls.js";
import { announce, css, element, format, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax, matmul, softmax, transpose } from "../../page/kit/numerics.js";
import { columnHead, headRow, matrixTable, tableRow } from "../../page/kit/tables.js";

css`
  .cl-product {
    display: grid;
    gap: 0.5rem 0.6rem;
    grid-template-areas: ". key . value" "query scores weights output";
    grid-template-columns: repeat(4, max-content);
    align-items: end;
    :is(th, td) {
      height: 2.1rem;
      padding: 0.1rem;
    }
    th[scope="row"] {
      padding-right: 0.4rem;
    }
    thead th {
      height: 1.4rem;
      text-align: center;
    }
    td:not(.cl-input) {
      min-width: 2.75rem;
      padding-right: 0.4rem;
    }
    input {
      width: 2.35rem;
    }
    .cl-key input {
      width: 2.75rem;
    }
    .cl-value input {
      width: 2.8rem;
    }
    [data-name="output"] td {
      min-width: 3rem;
    }
    :is([data-name="scores"], [data-name="weights"], [data-name="output"]) :is(thead, tbody th) {
      clip-path: inset(50%);
      position: absolute;
    }
  }
  @media (max-width: 30rem) {
    .cl-product {
      gap: 0.5rem 0.4rem;
      grid-template-areas: ". key" "query scores" "value weights" ". output";
      grid-template-columns: repeat(2, max-content);
      input {
        padding: 0.25rem 0.1rem;
        width: 1.9rem;
      }
      :is(.cl-key, .cl-value) input {
        width: 2.6rem;
      }
      td:not(.cl-input) {
        min-width: 2.6rem;
      }
    }
  }
`;

function compute({ query, key, value, temperature, scaled }) {
  const divisor = temperature * (scaled ? Math.sqrt(key[0].length) : 1);
  const scores = matmul(query, transpose(key)).map((row) => row.map((score) => score / divisor));
  const weights = scores.map(softmax);
  return { scores, weights, output: matmul(weights, value) };
}

/** A table of number inputs for the matrix `key` of the state, a row for each token or a column. */
function editor(state, key, caption, tokens, transposed = false) {
  const inputs = state.value[key].map((row, i) =>
    row.map((_, j) => {
      const input = element("input", {
        type: "number",
        step: 0.1,
        name: `${key}-${i}-${j}`,
        "aria-label": `${key} of ${tokens[i]}, entry ${j + 1}`,
      });
      input.addEventListener("input", () => {
        const valid = Number.isFinite(input.valueAsNumber);
        input.setAttribute("aria-invalid", !valid);
        if (!valid) return; // an unfinished number: what was there still counts
        const rows = state.value[key].map((old) => [...old]);
        rows[i][j] = input.valueAsNumber;
        state.set({ [key]: rows });
      });
      return input;
    }),
  );
  state.draw((value) =>
    inputs.forEach((row, i) =>
      row.forEach((input, j) => {
        if (input.valueAsNumber !== value[key][i][j] && document.activeElement !== input)
          input.value = value[key][i][j];
      }),
    ),
  );
  const cell = (input) => element("td", { class: "cl-input" }, input);
  const rows = transposed
    ? inputs[0].map((_, j) =>
        element(
          "tr",
          {},
          inputs.map((row) => cell(row[j])),
        ),
      )
    : inputs.map((row, i) => tableRow(tokens[i], row.map(cell)));
  return element(
    "table",
    { class: `cl-${key}`, style: `grid-area: ${key}` },
    element("caption", {}, caption),
    transposed ? headRow(tokens.map(columnHead)) : null,
    element("tbody", {}, rows),
  );
}

function render({ model, el }) {
  const { tokens } = model.get("data"),
    start = structuredClone(model.get("value"));
  const state = connect(model);
  const entries = start.value[0].map((_, j) => String(j + 1));
  const result = (name) => (value) => compute(value)[name];

  const controls = element(
    "div",
    { class: "cl-controls", style: "margin: 0.9rem 0 0" },
    slider(state, "temperature", "temperature", {
      min: 0.1,
      max: 5,
      step: 0.1,
      describe: (t) => format(t, 1),
    }),
    toggle(state, "scaled", `divide the scores by √dₖ = √${start.key[0].length}`),
    button(state, "Start again", () => structuredClone(start)),
  );
  const shown = (name, caption, columns, heat = false) => {
    const table = matrixTable(state, caption, tokens, columns, result(name), { heat, name });
    table.style.gridArea = name;
    return table;
  };
  const product = element(
    "div",
    { class: "cl-product" },
    editor(state, "query", "queries Q", tokens),
    editor(state, "key", "keys Kᵀ", tokens, true),
    editor(state, "value", "values V", tokens),
    shown("scores", "scores", tokens),
    shown("weights", "weights", tokens, true),
    shown("output", "output", entries),
  );
  const say = announce(
    state,
    (value) =>
      compute(value)
        .weights.map((row, i) => {
          const most = argmax(row);
          return `“${tokens[i]}” attends most to “${tokens[most]}” (${format(row[most])})`;
        })
        .join(", ") + ".",
  );
  const weightsOf = result("weights");
  const puzzles = goals(state, [
    {
      text: `Make “${tokens[1]}” look at “${tokens[2]}” with more than .9.`,
      reached: (value) => weightsOf(value)[1][2] > 0.9,
    },
    {
      text: "Make every row a hard choice, with a largest weight above .99.",
      reached: (value) => weightsOf(value).every((row) => Math.max(...row) > 0.99),
    },
  ]);
  frame(
    el,
    "Attention, by hand: each score is a row of Q times a column of Kᵀ",
    product,
    controls,
    say,
    puzzles,
  );
  return state.close;
}

export default { render };
