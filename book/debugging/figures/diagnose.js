// Runs with at most one wrong line each: what a run shows beside the sound one, and what a guess at its fault is told.

import { axes } from "../../page/kit/axes.js";
import { button, choice, connect, tabs } from "../../page/kit/controls.js";
import { announce, css, drawing, element, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, stage } from "../../page/kit/stage.js";
import { columnHead, headRow, tableRow } from "../../page/kit/tables.js";

const HEIGHT = 202;
const UPPER = { top: 8, bottom: 104 };
const LOWER = { top: 122, bottom: 162 };

css`
  .cl-looked {
    display: grid;
    min-height: ${HEIGHT + 30}px; /* of a drawing and its legend: what is below stays where it is */
    align-content: start;
    --sound: color-mix(in oklab, var(--quiet) 45%, var(--ground));
  }
  .cl-looked [hidden] {
    display: none;
  }
  .cl-looked table {
    width: 100%;
  }
  .cl-looked :is(th, td) {
    white-space: normal;
    padding-block: 0.08rem;
  }
  .cl-sound-run {
    stroke: var(--sound);
    stroke-width: 6;
  }
  .cl-this-run {
    stroke: var(--first);
    stroke-width: 2;
  }
  .cl-between-runs {
    stroke: var(--second);
    stroke-width: 2;
  }
  .cl-marks span::before {
    content: "";
    display: inline-block;
    width: 1.2rem;
    margin-right: 0.4rem;
    vertical-align: middle;
    border-top: 4px solid var(--of);
  }
`;

const LETTERS = "ABCDEFGH";
const at = ({ run }) => LETTERS.indexOf(run);

function build(root, width, look) {
  if (!look.x) return { height: HEIGHT, pose() {} };
  const { x, yours, sound, ticks, apart } = look;
  const sides = { left: 44, right: width - 12 };
  const along = { first: x[0], last: x.at(-1) };
  const ends = (all) => ({ first: all[0], last: all.at(-1), ticks: all });
  const trace = (name, across, up, values) =>
    root.append(
      drawing("path", {
        class: `cl-line ${name}`,
        d: `M${values.map((value, i) => `${across(x[i])} ${up(value)}`).join("L")}`,
      }),
    );
  const upper = axes(root, { ...sides, ...UPPER }, { x: along, y: ends(ticks.y) });
  trace("cl-sound-run", upper.x, upper.y, sound);
  trace("cl-this-run", upper.x, upper.y, yours);
  const below = { x: { ...along, ticks: ticks.x }, y: ends(apart) };
  const lower = axes(root, { ...sides, ...LOWER }, below);
  const differences = yours.map((value, i) => value - sound[i]);
  trace("cl-between-runs", lower.x, lower.y, differences);
  const axis = `${look.along}; above: ${look.unit}`;
  root.append(label(axis, (sides.left + sides.right) / 2, HEIGHT - 4, "cl-quiet"));
  return { height: HEIGHT, pose() {} };
}

function render({ model, el }) {
  const { names, runs } = model.get("data");
  const state = connect(model);
  const here = (value) => runs[at(value)].looks[value.look];
  const changed = (list, value, entry) => list.map((old, i) => (i === at(value) ? entry : old));

  const picture = stage(
    state,
    "The run's curve over that of the sound run, and below them their difference",
    (root, width, value) => build(root, width, here(value)),
    { key: ({ run, look }) => `${run} ${look}` },
  );
  const ends = ["var(--first)", "var(--sound)", "var(--second)"].map((colour) => {
    const [text, number] = [element("span", { style: `--of: ${colour}` }), element("b")];
    return { text, number };
  });
  const legend = element(
    "p",
    { class: "cl-marks" },
    ends.map(({ text }) => text),
  );
  const rows = element("tbody");
  const heads = ["this run", "the sound run"].map(columnHead);
  const table = element("table", { "data-name": "beside" }, headRow(element("td"), heads), rows);
  state.draw((value) => {
    const look = here(value);
    picture.hidden = legend.hidden = !look.x;
    table.hidden = Boolean(look.x);
    heads[0].textContent = `run ${value.run}`;
    if (look.x) {
      const [one, other] = [look.yours.at(-1), look.sound.at(-1)];
      [one, other, one - other].forEach((number, i) => {
        const what = [`run ${value.run}`, "sound run", "difference"][i];
        ends[i].text.replaceChildren(`${what}, at the end `, write(ends[i].number, number, 3));
      });
      return;
    }
    rows.replaceChildren(
      ...look.rows.map(([name, one, other, mark]) => {
        const own = element("td", {}, mark ? element("b", {}, `${one} ${mark}`) : one);
        return tableRow(name, own, element("td", {}, other));
      }),
    );
  });
  const looks = runs[0].looks.map(({ name }, i) => [i, name]);
  const what = element(
    "div",
    { class: "cl-controls" },
    tabs(state, "run", "which run", [...LETTERS.slice(0, runs.length)]),
    choice(state, "look", "what to look at", looks),
  );
  const name = (value) => {
    const [said, { named }] = [value.picked[at(value)], value];
    return { named: changed(named, value, [...named[at(value)], said]) };
  };
  const verdict = element(
    "div",
    { class: "cl-controls" },
    choice(state, "picked", "what is wrong with it?", ["choose", ...names], {
      at: (value) => value.picked[at(value)],
      change: (name, value) => ({ picked: changed(value.picked, value, name) }),
    }),
    button(state, "Name it", name, {
      class: "cl-main",
      draw: (node, value) => {
        node.disabled = value.picked[at(value)] === "choose";
      },
    }),
  );
  const say = announce(state, (value) => {
    const last = value.named[at(value)].at(-1);
    if (last) return runs[at(value)].told[names.indexOf(last)];
    return (
      `Run ${value.run} differs from the sound run in one line at most. ` +
      "Look at it in several ways, then name the fault."
    );
  });
  const puzzles = goals(state, [
    {
      text: "Name what is wrong with one of the runs at your first attempt.",
      reached: ({ named }) => runs.some(({ truth }, i) => named[i][0] === truth),
    },
    {
      text: "Find out about all three.",
      reached: ({ named }) => runs.every(({ truth }, i) => named[i].includes(truth)),
    },
  ]);
  const looked = element("div", { class: "cl-looked" }, legend, picture, table);
  frame(el, "What is wrong with these three runs?", what, looked, verdict, say, puzzles);
  return state.close;
}

export default { render };
