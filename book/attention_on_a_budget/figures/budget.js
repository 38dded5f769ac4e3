// What memories give back, over the bytes that they hold: a dot for each, which moves when the facts do.

import { axes } from "../../page/kit/axes.js";
import { connect, tabs } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { group, label, stage } from "../../page/kit/stage.js";
import { columnHead, headRow, tableRow } from "../../page/kit/tables.js";

css`
  .cl-budget td,
  .cl-budget tbody th {
    padding-top: 0.12rem;
    padding-bottom: 0.12rem;
  }
  .cl-budget td {
    font-variant-numeric: tabular-nums;
  }
  .cl-budget-dot circle {
    fill: var(--ground);
    stroke: var(--first);
    stroke-width: 2;
  }
`;

const letter = (i) => String.fromCharCode(65 + i);

function build(root, width, { names, facts }) {
  const height = 214,
    box = { left: 44, right: width - 14, top: 16, bottom: height - 38 };
  const bytes = Object.values(facts).flatMap((found) => Object.values(found).map(([b]) => b));
  const first = 2 ** Math.floor(Math.log2(Math.min(...bytes)) - 0.2),
    last = 2 ** Math.ceil(Math.log2(Math.max(...bytes)) + 0.2);
  const ticks = [];
  for (let tick = first; tick <= last; tick *= width < 480 ? 4 : 2) ticks.push(tick);
  const { x, y } = axes(root, box, {
    x: { first, last, log: true, ticks, text: (tick) => format(tick, 0) },
    y: { first: 0, last: 1, ticks: [0, 0.25, 0.5, 0.75, 1], text: (share) => format(share) },
  });
  root.append(label("bytes held", (box.left + box.right) / 2, height - 4, "cl-quiet"));
  const dots = names.map((name, i) => {
    const dot = group(root, { o: 0 }, drawing("circle", { r: 11 }), label(letter(i), 0, 5));
    dot.node.setAttribute("class", "cl-budget-dot");
    dot.node.setAttribute("data-dot", name);
    return dot;
  });
  const pose = (value, move) => {
    const found = facts[value.facts];
    const places = [];
    dots.forEach((dot, i) => {
      const point = found[names[i]];
      if (!point) return dot.to({ o: 0 }, move);
      const place = { x: x(point[0]), y: y(point[1]) };
      const near = (other) => Math.hypot(other.x - place.x, other.y - place.y) < 20;
      while (places.some(near)) place.x += 21; // beside the one that is there
      places.push(place);
      dot.to({ ...place, o: 1 }, move);
    });
  };
  return { height, pose };
}

function render({ model, el }) {
  const { names, facts } = model.get("data");
  const state = connect(model);
  const kinds = Object.keys(facts);
  const rows = names.map((name, i) => {
    const cells = [0, 1].map((k) =>
      element("td", { "data-name": k ? "share" : "bytes", "data-of": name }),
    );
    return { name, cells, row: tableRow(`${letter(i)} ${name}`, ...cells) };
  });
  state.draw((value) =>
    rows.forEach(({ name, cells }) => {
      const point = facts[value.facts][name];
      cells.forEach((cell, k) => {
        if (point) write(cell, point[k], k ? 3 : 0);
        else {
          cell.textContent = "not run";
          delete cell.dataset.value;
        }
      });
    }),
  );
  const table = element(
    "table",
    { class: "cl-budget" },
    headRow(element("td"), columnHead("bytes held"), columnHead("right")),
    element(
      "tbody",
      {},
      rows.map(({ row }) => row),
    ),
  );
  const tell = (kind) => {
    const found = Object.entries(facts[kind]);
    const [least, [bytes, share]] = found.reduce((a, b) => (b[1][0] < a[1][0] ? b : a));
    const [most, [, best]] = found.reduce((a, b) => (b[1][1] > a[1][1] ? b : a));
    return (
      `${kind}: ${least} holds the least, ${format(bytes, 0)} bytes, and is right on ` +
      `${format(100 * share, 0)} %. The best is ${most}, with ${format(100 * best, 0)} %.`
    );
  };
  const [whole] = names;
  const wanted = (test) => kinds.filter((kind) => test(facts[kind]));
  const below = wanted((found) =>
    names.some(
      (name) => found[name]?.[0] < found[whole][0] / 5 && found[name][1] > found[whole][1],
    ),
  );
  const forgets = wanted((found) => Object.values(found).some(([, share]) => share < 0.5));
  const puzzles = [
    [
      "Find the facts at which something is better than full attention, for a fifth of the bytes.",
      below,
    ],
    ["Find the facts of which one memory loses more than half.", forgets],
  ];
  const start = state.value.facts;
  frame(
    el,
    "What is held, and what is given back",
    tabs(state, "facts", "the facts", kinds),
    stage(state, "Share right, over the bytes held", (root, width) =>
      build(root, width, { names, facts }),
    ),
    table,
    announce(state, (value) => tell(value.facts), kinds.map(tell)),
    goals(
      state,
      puzzles
        .filter(([, list]) => list.length && !list.includes(start))
        .map(([text, list]) => ({ text, reached: (value) => list.includes(value.facts) })),
    ),
  );
  return state.close;
}

export default { render };
