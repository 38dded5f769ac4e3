// The operations of one layer: an LSTM and a block of attention, each with what it multiplies by
// matrices, the pairs of words, and a feed-forward network that the reader puts behind both.

import { choice, connect, remember, slider, toggle } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { tableRow } from "../../page/kit/tables.js";

const BAR = 40,
  STEP = 92; // pixels

/** Operations of every part, of all n words. */
function bill({ counted }, { n, d, fed }) {
  const square = n * d * d;
  const behind = fed ? counted.feed_forward * square : 0;
  return {
    LSTM: { matrices: counted.lstm * square, pairs: 0, "feed-forward": behind },
    attention: {
      matrices: counted.matrices * square,
      pairs: counted.pairs * n * n * d,
      "feed-forward": behind,
    },
  };
}

// Their colours, and how strong.
const KINDS = {
  matrices: ["stream", 0.5],
  pairs: ["attention", 0.45],
  "feed-forward": ["stream", 0.2],
};
const whole = (parts) => Object.values(parts).reduce((sum, part) => sum + part, 0);
const ratio = (costs) => whole(costs.attention) / whole(costs.LSTM);
const share = ({ attention }) => attention.pairs / whole(attention);
const percent = (part) => `${format(100 * part, 0)} %`;

function build(root, width, costsOf) {
  const lanes = ["LSTM", "attention"].map((name, row) => {
    const title = label(name, 0, row * STEP + 16, "cl-start cl-strong"),
      total = label("", width, row * STEP + 16, "cl-end cl-quiet");
    total.dataset.name = `${name}-total`;
    root.append(title, total);
    const bars = Object.entries(KINDS).map(([what, [kind, strength]]) => {
      const bar = drawing("rect", { class: "cl-tip", height: BAR, "fill-opacity": strength });
      const node = drawing("g", { class: `cl-${kind}` }, bar);
      const moving = part(root, node, { y: row * STEP + 26, w: 0 }, ({ w }) =>
        bar.setAttribute("width", Math.max(w - 2, 0)),
      );
      return { what, moving };
    });
    return { name, total, bars };
  });
  const names = 2 * STEP - 4; // under both, so that no bar is too short for its name
  let x = 0;
  for (const [what, [kind, strength]] of Object.entries(KINDS)) {
    const sample = { x, y: names, width: 14, height: 14, "fill-opacity": strength };
    root.append(
      drawing("g", { class: `cl-${kind}` }, drawing("rect", { class: "cl-tip", ...sample })),
      label(what, x + 20, names + 12, "cl-start"),
    );
    x += 20 + what.length * 8 + 16;
  }
  function pose(value, options) {
    const costs = costsOf(value),
      most = Math.max(...Object.values(costs).map(whole));
    for (const { name, total, bars } of lanes) {
      write(total, whole(costs[name]));
      const millions = Math.round(whole(costs[name]) / 1e6);
      total.textContent = `${millions.toLocaleString("en")} million operations`;
      let x = 0;
      for (const { what, moving } of bars) {
        const w = (costs[name][what] / most) * width;
        moving.to({ x, w, o: w > 0 ? 1 : 0 }, { ...options, ms: 250 });
        x += w;
      }
    }
  }
  return { height: names + 20, pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const state = connect(model);
  const costsOf = remember((value) => bill(data, value));
  const controls = element(
    "div",
    { class: "cl-controls" },
    slider(state, "n", "words n =", { min: 16, max: 8192, step: 16 }),
    choice(state, "d", "width d", data.widths),
    toggle(state, "fed", "a feed-forward network behind both"),
  );
  const counts = Object.fromEntries(
    ["ratio", "share"].map((name) => [name, element("td", { "data-name": name })]),
  );
  const table = element(
    "table",
    {},
    element(
      "tbody",
      {},
      tableRow("attention over LSTM", counts.ratio),
      tableRow("pairs of words in attention's bill", counts.share),
    ),
  );
  state.draw((value) => {
    write(counts.ratio, ratio(costsOf(value)));
    write(counts.share, share(costsOf(value)));
    counts.share.textContent = percent(share(costsOf(value)));
  });
  const say = announce(state, (value) => {
    const times = format(ratio(costsOf(value)));
    return (
      `For ${value.n} words of width ${value.d} attention takes ${times} times the operations ` +
      `of the LSTM. Pairs of words are ${percent(share(costsOf(value)))} of its bill.`
    );
  });
  const puzzles = goals(state, [
    {
      text: "Find the length at which the two cost the same; then put the feed-forward network behind both. Do they still?",
      reached: (value) => value.fed && Math.abs(ratio(costsOf(value)) - 1) < 0.01,
    },
    {
      text: "With the feed-forward network, make pairs of words half of attention's bill.",
      reached: (value) => value.fed && Math.abs(share(costsOf(value)) - 0.5) < 0.01,
    },
  ]);
  const picture = stage(state, "Operations of one layer", (root, width) =>
    build(root, width, costsOf),
  );
  frame(el, "What one layer costs", controls, picture, table, say, puzzles);
  return state.close;
}

export default { render };
