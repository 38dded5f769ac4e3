// Masks: who may ask whom, as a grid that the reader clicks, as arrows, and as the tensor.

import { button, connect, remember, tabs } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, steady, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax, softmax } from "../../page/kit/numerics.js";
import { arrow, tokenRow } from "../../page/kit/parts.js";
import { label, stage } from "../../page/kit/stage.js";
import { headRow, tableRow } from "../../page/kit/tables.js";

/** A nested list of booleans as PyTorch prints it. */
function printed(mask, inner = 1) {
  if (!Array.isArray(mask[0])) return `[${mask.map((on) => (on ? " True" : "False")).join(", ")}]`;
  return `[${mask.map((part) => printed(part, inner + 1)).join(`,\n${" ".repeat(inner)}`)}]`;
}

/** A mask as a small picture: filled where one may attend. */
const thumbnail = (allowed) =>
  drawing(
    "svg",
    { width: 6 * allowed.length, height: 6 * allowed.length, "aria-hidden": "true" },
    allowed.flatMap((row, i) =>
      row.map((on, j) =>
        drawing("rect", {
          ...{ x: 6 * j, y: 6 * i, width: 5, height: 5 },
          fill: on ? "var(--attention)" : "var(--line)",
        }),
      ),
    ),
  );

function render({ model, el }) {
  const { tokens, scores, masks, pad } = model.get("data");
  const state = connect(model);
  const quoted = tokens.map((token) => `“${token}”`);
  const preset = ({ mask }) => masks.find(({ name }) => name === mask);
  const allowedIn = (value) => preset(value)?.allowed ?? value.own;
  const weightsOf = remember((value) => {
    const allowed = allowedIn(value);
    return scores.map((row, i) => softmax(row.map((s, j) => (allowed[i][j] ? s : -Infinity))));
  });

  const gallery = tabs(
    state,
    "mask",
    "mask",
    masks.map(({ name, allowed }) => [
      name,
      element("span", { style: "display: flex; gap: 0.4rem" }, thumbnail(allowed), name),
    ]),
  );
  function build(root, width) {
    const pitch = width / tokens.length,
      centres = tokens.map((_, i) => (i + 0.5) * pitch),
      [top, bottom] = [18, 122];
    root.append(label("asks", 0, 12, "cl-start cl-quiet"));
    root.append(label("is asked", 0, bottom + 46, "cl-start cl-quiet"));
    const pairs = tokens.map((_, i) =>
      tokens.map((_, j) => {
        const ends = { x1: centres[j], y1: bottom, x2: centres[i], y2: top + 34 };
        const barred = drawing("line", { ...ends, stroke: "var(--quiet)", "stroke-dasharray": 4 });
        root.append(barred);
        return { barred, flow: arrow(root, "attention", { ...ends, w: 0, o: 0 }) };
      }),
    );
    const askers = tokenRow(root, tokens, centres, {
      y: top,
      pick: (i) => state.set({ asks: i }),
      name: "show the arrows of",
    });
    tokenRow(root, tokens, centres, { y: bottom });
    const pose = (value, options) => {
      const allowed = allowedIn(value),
        weights = weightsOf(value);
      askers.press(value.asks);
      pairs.forEach((row, i) =>
        row.forEach(({ barred, flow }, j) => {
          const mine = i === value.asks;
          barred.style.visibility = mine && !allowed[i][j] ? "" : "hidden";
          flow.to(
            { w: mine ? 1 + 11 * weights[i][j] : 1, o: allowed[i][j] ? (mine ? 1 : 0.15) : 0 },
            options,
          );
        }),
      );
    };
    return { height: bottom + 50, pose };
  }

  /** A cell of the grid is a button that allows or forbids. */
  const cells = tokens.map((_, i) =>
    tokens.map((_, j) =>
      button(
        state,
        "",
        (value) => {
          const own = allowedIn(value).map((row) => [...row]);
          own[i][j] = !own[i][j];
          return { mask: "own", own, asks: i };
        },
        {
          draw(node, value) {
            const on = allowedIn(value)[i][j];
            write(node, weightsOf(value)[i][j]);
            if (!on) node.textContent = "–";
            const name = `${quoted[i]} may look at ${quoted[j]}: ${node.textContent}`;
            node.setAttribute("aria-label", name);
            node.setAttribute("aria-pressed", on);
            const share = Math.round(10 + 20 * weightsOf(value)[i][j]);
            node.style.background = on
              ? `color-mix(in oklab, var(--attention) ${share}%, var(--ground))`
              : "none";
            node.style.borderStyle = on ? "solid" : "dashed";
          },
          style: "min-width: 2.9rem; min-height: 1.75rem; padding: 0.1rem 0",
        },
      ),
    ),
  );
  const grid = element(
    "table",
    {},
    element("caption", {}, "mask and weights: click a cell"),
    headRow(
      element("td"),
      tokens.map((token) => element("th", { scope: "col", style: "text-align: center" }, token)),
    ),
    element(
      "tbody",
      {},
      cells.map((row, i) =>
        tableRow(
          tokens[i],
          row.map((cell) => element("td", { style: "padding: 1px" }, cell)),
        ),
      ),
    ),
  );
  const tensor = element("pre", {
    "data-name": "tensor",
    class: "cl-scroll",
    style: "font-size: 12px",
    tabindex: 0,
    role: "group",
    "aria-label": "the mask in Python",
  });
  const every = masks.map(({ name }) => ({ ...state.value, mask: name }));
  steady(state, tensor, every, (value) => {
    const { code, tensor: given } = preset(value) ?? { code: "mask", tensor: value.own };
    tensor.textContent = given ? `>>> ${code}\n${printed(given)}` : `>>> ${code}`;
  });

  const tell = (value) => {
    const row = allowedIn(value)[value.asks],
      weights = weightsOf(value)[value.asks],
      most = argmax(weights),
      count = row.filter(Boolean).length;
    const who = quoted[value.asks];
    return count === 0
      ? `${who} may look at nobody: all its weights are 0, and so is its output.`
      : `${who} may look at ${count} of ${tokens.length} words, and looks most at ${quoted[most]} (${format(weights[most])}).`;
  };
  const told = every.flatMap((value) => tokens.map((_, asks) => tell({ ...value, asks })));
  const say = announce(state, tell, told);
  const puzzles = goals(state, [
    {
      text: "Combine two masks: nobody looks at a later word, and nobody looks at padding.",
      reached: (value) =>
        allowedIn(value).every((row, i) => row.every((on, j) => on === (j <= i && !pad[j]))),
    },
    {
      text: "Leave one word nobody to look at.",
      reached: (value) => allowedIn(value).some((row) => !row.some(Boolean)),
    },
  ]);
  frame(
    el,
    "Who may look at whom",
    gallery,
    stage(state, "Arrows from the words that are asked to the words that ask", build),
    element("div", { class: "cl-side" }, grid, tensor),
    say,
    puzzles,
  );
  return state.close;
}

export default { render };
