// Who gets whom: a square of questions, in each cell its expert; those for whom there is no room are struck out.

import { connect, slider, tabs } from "../../page/kit/controls.js";
import { announce, css, drawing, element, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, stage } from "../../page/kit/stage.js";

css`
  .cl-routing rect {
    stroke: var(--ground);
  }
  .cl-routing .cl-dropped {
    opacity: 0.25;
  }
`;

const SIDE = 16;

/** Which questions find room, when they come row by row or column by column: each expert takes the first. */
function taken(experts, most, across) {
  const got = new Map(),
    kept = experts.map(() => false);
  experts.forEach((_, i) => {
    const at = across ? i : SIDE * (i % SIDE) + Math.floor(i / SIDE);
    const n = got.get(experts[at]) ?? 0;
    kept[at] = n < most;
    got.set(experts[at], n + 1);
  });
  return kept;
}

function build(root, width, { views, roomFor, names }, { view }) {
  const cell = Math.min(16, Math.floor((width - 30) / SIDE));
  const left = Math.floor((width - cell * SIDE) / 2),
    top = 20;
  const experts = views[view];
  const cells = experts.map((expert, i) => {
    const share = Math.round(2 + (40 * expert) / 7);
    const place = { x: left + cell * (i % SIDE), y: top + cell * Math.floor(i / SIDE) };
    const node = drawing(
      "g",
      { "data-expert": expert },
      drawing("rect", {
        ...place,
        width: cell,
        height: cell,
        style: `fill: color-mix(in oklab, var(--first) ${share}%, var(--ground))`,
      }),
    );
    const text = label(String(expert + 1), place.x + cell / 2, place.y + cell / 2 + 4);
    text.style.fontSize = "11px";
    node.append(text);
    return node;
  });
  root.append(
    drawing("g", { class: "cl-routing" }, cells),
    label(names[1], left + (cell * SIDE) / 2, 12, "cl-quiet"),
  );
  const side = label(names[0], 0, 0, "cl-quiet");
  side.setAttribute("transform", `translate(${left - 8} ${top + (cell * SIDE) / 2}) rotate(-90)`);
  root.append(side);
  const pose = ({ room, order }) => {
    const kept = taken(experts, roomFor(room), order === "rows");
    cells.forEach((node, i) => node.classList.toggle("cl-dropped", !kept[i]));
  };
  return { height: top + cell * SIDE + 6, pose };
}

function render({ model, el }) {
  const { views: texts, rooms, names } = model.get("data");
  const views = Object.fromEntries(
    Object.entries(texts).map(([name, digits]) => [name, Array.from(digits, Number)]),
  );
  const state = connect(model);
  const count = SIDE * SIDE;
  const roomFor = (i) => (i === rooms.length ? count : Math.ceil((rooms[i] * count) / 8));
  const lost = ({ view, room, order }) =>
    taken(views[view], roomFor(room), order === "rows").map((is) => !is);
  const number = (list) => list.filter(Boolean).length;
  const both = (value) => {
    const rows = lost({ ...value, order: "rows" }),
      columns = lost({ ...value, order: "columns" });
    return number(rows.map((is, i) => is && !columns[i]));
  };
  const tell = (value) => {
    const most = Math.max(
      ...Array.from({ length: 8 }, (_, e) => number(views[value.view].map((x) => x === e))),
    );
    const first = `The busiest expert is chosen by ${most} of ${count} questions.`;
    if (value.room === rooms.length) return first;
    return (
      `${first} Each takes ${roomFor(value.room)}: ${number(lost(value))} find no room. ` +
      `${both(value)} are turned away in one order and not in the other.`
    );
  };
  const other = Object.keys(views).find((name) => name !== state.value.view);
  frame(
    el,
    "Who gets whom?",
    stage(
      state,
      "The expert of each question: a row for each domain, a column for each key",
      (root, width, value) => build(root, width, { views, roomFor, names }, value),
      { key: ({ view }) => view },
    ),
    element(
      "div",
      { class: "cl-controls" },
      tabs(state, "view", "router", Object.keys(views)),
      slider(state, "room", "room", {
        min: 0,
        max: rooms.length,
        describe: (i) => (i === rooms.length ? "no limit" : `${rooms[i]} × even`),
      }),
      tabs(state, "order", "they come", [
        ["rows", "row by row"],
        ["columns", "column by column"],
      ]),
    ),
    announce(state, tell, [tell({ ...state.value, room: 0 })]),
    goals(state, [
      { text: `Look at the router “${other}”.`, reached: ({ view }) => view === other },
      {
        text: "Give so little room that a question is turned away in one order and not in the other.",
        reached: (value) => value.room < rooms.length && both(value) > 0,
      },
    ]),
  );
  return state.close;
}

export default { render };
