// A language model while it learns: its loss on fresh sentences against the entropy, which is the best
// possible, and against tables that count; and what it writes, with its probability in the language.

import { axes } from "../../page/kit/axes.js";
import { connect } from "../../page/kit/controls.js";
import { css, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { group, label, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";
import { columnHead, headRow, tableRow } from "../../page/kit/tables.js";

css`
  .cl-written {
    width: 100%;
    margin-top: 0.6rem;
    table-layout: fixed;
    :is(th, td) {
      padding-block: 0.12rem;
    }
    thead th {
      width: 6.5rem;
    }
    thead th:first-child {
      width: auto;
    }
    th[scope="row"] {
      overflow: hidden;
      text-overflow: ellipsis; /* what an untrained model writes is long */
    }
  }
  @media (max-width: 30rem) {
    .cl-written thead th {
      width: 4.4rem;
    }
    .cl-written th {
      white-space: normal;
    }
  }
`;

function build(root, width, { records, rivals, floor }) {
  const left = 38,
    right = width - 14,
    top = 12,
    bottom = 130;
  const most = Math.max(...records.map(({ loss }) => loss), ...rivals.map(([, loss]) => loss));
  const even = Array.from({ length: Math.ceil(most / 2) }, (_, i) => 2 * i);
  const { x, y } = axes(
    root,
    { left, right, top, bottom },
    {
      x: { first: 0, last: records.at(-1).step },
      y: { first: 0, last: 1.05 * most, ticks: even },
    },
  );
  const level = (name, loss, kind, dash, above = -6) => {
    const at = { d: `M${left} ${y(loss)}H${right}`, style: `stroke-dasharray: ${dash}` };
    const text = label(`${name} ${format(loss)}`, right, y(loss) + above, "cl-end cl-own");
    const line = drawing("path", { class: "cl-edge", "data-name": "level", ...at });
    root.append(drawing("g", { class: `cl-${kind}` }, line, text));
  };
  rivals.forEach(([name, loss]) => level(name, loss, "stream", "5 4"));
  level("the best possible", floor, "measure", "none", 16);
  const points = records.map(({ step, loss }) => `${x(step)} ${y(loss)}`);
  const passed = drawing("path", { class: "cl-edge", style: "stroke-width: 3" });
  const number = label("", 8, -10, "cl-own cl-strong cl-start");
  fill(number, { "data-name": "loss" }, []);
  const dot = drawing("circle", { class: "cl-tip", r: 5.5 });
  root.append(drawing("g", { class: "cl-model" }, passed));
  const moving = group(root, {}, drawing("g", { class: "cl-model" }, dot, number));
  const steps = records.map(({ step }, i) => {
    const before = i ? x(step) - x(records[i - 1].step) : 99;
    const text = label(before > 34 ? String(step) : "", x(step), bottom + 20, i ? "" : "cl-start");
    root.append(text);
    return text;
  });
  root.append(label("steps of training", (left + right) / 2, bottom + 37, "cl-quiet"));
  return {
    height: bottom + 42,
    pose({ step }, move) {
      passed.setAttribute("d", step ? `M${points.slice(0, step + 1).join("L")}` : "");
      const late = records[step].step > records.at(-1).step / 2;
      fill(number, { class: `cl-own cl-strong ${late ? "cl-end" : "cl-start"}` }, []);
      write(number, records[step].loss);
      moving.to({ x: x(records[step].step), y: y(records[step].loss) }, move);
      steps.forEach((text, i) => text.classList.toggle("cl-strong", i === step));
    },
  };
}

function render({ model, el }) {
  const data = model.get("data"),
    { records, rivals, floor } = data;
  const state = connect(model);
  const picture = stage(state, "The loss, step by step", (root, width) => build(root, width, data));
  const body = element("tbody", { "data-name": "written" });
  const heads = ["it writes, with its log-probability", "in the language", "in the model"].map(
    columnHead,
  );
  const table = element("table", { class: "cl-written" }, headRow(...heads), body);
  const cell = (name, number) => {
    const node = element("td", { "data-name": name });
    if (number === null) node.textContent = "−∞";
    else write(node, number, 1);
    return node;
  };
  state.draw(({ step }) =>
    body.replaceChildren(
      ...records[step].written.map(({ text, truth, model }) => {
        const sign = truth === null ? "✗" : "✓";
        const written = element("span", { title: text }, `${sign} ${text || "(nothing)"}`);
        return tableRow(
          written,
          cell(truth === null ? "never" : "truth", truth),
          cell("model", model),
        );
      }),
    ),
  );
  const right = (i) => records[i].written.filter(({ truth }) => truth !== null).length;
  const caption = (i) => () => {
    const { step, loss, written } = records[i];
    const beaten = rivals.filter(([, rival]) => loss < rival).map(([name]) => name);
    const than = beaten.length ? ` It beats the table of ${beaten.join(" and ")}.` : "";
    return (
      `After ${step} steps: ${format(loss)} nats per token, ${format(loss - floor)} above the ` +
      `best possible.${than} ${right(i)} of these ${written.length} sentences are in the language.`
    );
  };
  const beats = (i) => rivals.every(([, rival]) => records[i].loss < rival);
  const puzzles = goals(state, [
    {
      text: "Stop at the first recorded step at which the model beats every table.",
      reached: ({ step }) => step > 0 && beats(step) && !beats(step - 1),
    },
    {
      text: "Find one that is not in the language (✗) and that the model rates above −16.",
      reached: ({ step }) =>
        records[step].written.some(({ truth, model }) => truth === null && model > -16),
    },
  ]);
  const steps = records.map(({ step }, i) => ({ name: String(step), caption: caption(i) }));
  frame(
    el,
    "A language model while it learns",
    picture,
    stepper(state, { steps, pace: 2400, names: false }),
    table,
    puzzles,
  );
  return state.close;
}

export default { render };
