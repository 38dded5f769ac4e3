// Scaled dot-product attention on vectors that the reader edits: scores, weights, output.

import { button, connect, slider, toggle } from "../../page/kit/controls.js";
import { announce, css, element, format, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax, matmul, softmax, transpose } from "../../page/kit/numerics.js";
import { matrixTable, tableRow } from "../../page/kit/tables.js";

css`
  td.cl-input {
    padding: 0.1rem 0.12rem;
  }
`;

function compute({ query, key, value, temperature, scaled }) {
  const divisor = temperature * (scaled ? Math.sqrt(key[0].length) : 1);
  const scores = matmul(query, transpose(key)).map((row) => row.map((score) => score / divisor));
  const weights = scores.map(softmax);
  return { scores, weights, output: matmul(weights, value) };
}

/** A table of number inputs for the matrix `key` of the state. */
function editor(state, key, caption, tokens) {
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
  return element(
    "table",
    {},
    element("caption", {}, caption),
    element(
      "tbody",
      {},
      inputs.map((row, i) =>
        tableRow(
          tokens[i],
          row.map((input) => element("td", { class: "cl-input" }, input)),
        ),
      ),
    ),
  );
}

function render({ model, el }) {
  const { tokens } = model.get("data"),
    start = structuredClone(model.get("value"));
  const state = connect(model);
  const entries = start.value[0].map((_, j) => String(j + 1));
  const result = (name) => (value) => compute(value)[name];

  const vectors = element(
    "div",
    { class: "cl-side" },
    editor(state, "query", "queries Q", tokens),
    editor(state, "key", "keys K", tokens),
    editor(state, "value", "values V", tokens),
  );
  const controls = element(
    "div",
    { class: "cl-controls", style: "margin: 1.1rem 0" },
    slider(state, "temperature", "temperature", {
      min: 0.1,
      max: 5,
      step: 0.1,
      describe: (t) => format(t, 1),
    }),
    toggle(state, "scaled", `divide the scores by √dₖ = √${start.key[0].length}`),
    button(state, "Start again", () => structuredClone(start)),
  );
  const results = element(
    "div",
    { class: "cl-side" },
    matrixTable(state, "scores", tokens, tokens, result("scores"), { name: "scores" }),
    matrixTable(state, "weights", tokens, tokens, result("weights"), {
      heat: true,
      name: "weights",
    }),
    matrixTable(state, "output", tokens, entries, result("output"), { name: "output" }),
  );
  for (const cell of results.querySelectorAll("td[data-value]:not(.cl-heat)"))
    cell.style.minWidth = "3.6rem"; // of −10.00, so that no table moves
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
  frame(el, "Attention, by hand", vectors, controls, results, say, puzzles);
  return state.close;
}

export default { render };
