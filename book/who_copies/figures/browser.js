// All heads of a language model on one text that repeats: a map to choose one from, its weights, its scores.

import { connect, slider, tabs } from "../../page/kit/controls.js";
import { announce, drawing, element, fill, format, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax, clamp, descending } from "../../page/kit/numerics.js";
import { draggable, label, part, stage } from "../../page/kit/stage.js";
import { answerList, matrixTable } from "../../page/kit/tables.js";
import { meanBack, unpackMaps, weightMap } from "../../page/kit/weight_maps.js";

const ROW = 10; // pixels of a head in the map of all heads
const LEFT = 14;

function build(root, width, { blocks, heads, numbers }, state) {
  const wide = Math.min(22, (width - LEFT) / blocks);
  const cells = numbers.map((_, i) =>
    drawing("rect", {
      class: "cl-tip",
      x: Math.floor(i / heads) * wide,
      y: (i % heads) * ROW,
      width: wide - 1,
      height: ROW - 1,
    }),
  );
  const size = { width: blocks * wide, height: heads * ROW };
  const ring = drawing("rect", {
    class: "cl-line cl-knob",
    x: -1.5,
    y: -1.5,
    width: wide + 2,
    height: ROW + 2,
    style: "stroke-width: 2.5",
  });
  const every = width >= 560 ? 1 : 5;
  const map = drawing(
    "g",
    { class: "cl-attention", "data-name": "heads", transform: `translate(${LEFT} 2)` },
    drawing("rect", { class: "cl-axis", ...size }),
    cells,
  );
  root.append(map);
  for (let block = 0; block < blocks; block += every) {
    const text = String(block);
    map.append(label(text, (block + 0.5) * wide, size.height + 13, "cl-quiet cl-tiny"));
  }
  map.append(label("head", -size.height / 2, -4, "cl-quiet cl-tiny"));
  map.lastChild.setAttribute("transform", "rotate(-90)");
  const handle = drawing("g", {}, drawing("rect", { class: "cl-hit", ...size }));
  map.append(handle);
  const now = part(handle, ring);
  const go = (block, head) =>
    state.set({ block: clamp(block, 0, blocks - 1), head: clamp(head, 0, heads - 1) });
  const { say } = draggable(root, handle, {
    name: "chosen head",
    move: (x, y) => go(Math.floor((x - LEFT) / wide), Math.floor((y - 2) / ROW)),
    nudge: (dx, dy) => go(state.value.block + dx, state.value.head - dy),
  });
  fill(handle, { "aria-valuemin": 0, "aria-valuemax": blocks * heads - 1 }, []);
  return {
    height: size.height + 20,
    pose({ block, head, score }, { jump }) {
      now.to({ x: block * wide, y: head * ROW }, { jump, ms: 150 });
      say(`head ${head} of block ${block}`, block * heads + head);
      cells.forEach((cell, i) => {
        cell.dataset.value = String(numbers[i][score]);
        cell.style.opacity = String(numbers[i][score]);
      });
    },
  };
}

function render({ model, el }) {
  const data = model.get("data");
  const { words, blocks, heads, period } = data;
  const maps = unpackMaps(data.maps);
  const state = connect(model);
  const first = ({ block, head }) => block * heads + head;
  const numbers = maps.map((map) => [
    meanBack(map, 1, period),
    meanBack(map, period - 1, period),
    map.slice(period).reduce((sum, row) => sum + row[0], 0) / (map.length - period),
  ]);
  const mapOf = (value) => maps[first(value)];
  const numbersOf = (value) => numbers[first(value)];
  const strongest = argmax(numbers.map((scores) => scores[1]));

  const names = ["on the word before", "on what followed the copy", "on the first word"];
  const kinds = tabs(
    state,
    "score",
    "the mean weight that the map shows",
    names.map((name, i) => [String(i), name]),
  );
  kinds.style.marginBottom = "0.5rem";
  const chooser = stage(state, `All ${maps.length} heads: a column is a block`, (root, width) =>
    build(root, width, { blocks, heads, numbers }, state),
  );

  const describe = (query) => `${query + 1} ${words[query]}`;
  const picture = stage(state, "The weights of the chosen head", (root, width) => {
    const side = Math.floor(Math.min(228, width));
    const map = weightMap(root, words.length, side, {
      title: "from each word (down)",
      name: "weights",
      first: { x: 0, y: 20 },
    });
    return {
      height: side + 22,
      pose(value) {
        map.set(mapOf(value));
        map.light(value.query);
      },
    };
  });
  const row = answerList(state, "row", (value) => {
    const weights = mapOf(value)[value.query];
    return descending(weights)
      .slice(0, 3)
      .map((key) => [describe(key), weights[key]]);
  });
  row.classList.add("cl-attention");
  row.style.minHeight = "4.8rem"; // the first word sees only itself
  row.style.alignContent = "start";
  const table = matrixTable(
    state,
    "its mean weight, second copy",
    names,
    ["score"],
    (value) => numbersOf(value).map((score) => [score]),
    { name: "scores" },
  );
  table.querySelector("thead").hidden = true; // the caption says it
  const say = announce(state, (value) => {
    const weights = mapOf(value)[value.query],
      key = argmax(weights);
    return `Head ${value.head} of block ${value.block}: “${describe(value.query)}” looks most at “${describe(key)}” (${format(weights[key])}).`;
  });
  const puzzles = goals(state, [
    {
      text: "Find a previous-token head: more than 0.7 on the word before.",
      reached: (value) => numbersOf(value)[0] > 0.7,
    },
    {
      text: "Find a head that parks: more than 0.9 on the first word.",
      reached: (value) => numbersOf(value)[2] > 0.9,
    },
    {
      text: "Find another induction head: more than 0.5 on what followed the copy.",
      reached: (value) => numbersOf(value)[1] > 0.5 && first(value) !== strongest,
    },
  ]);
  const query = slider(state, "query", "look from word", {
    min: 0,
    max: words.length - 1,
    describe,
  });
  const beside = element("div", { style: "flex: 1 1 14rem" }, query, row, table);
  const place = element("div", { style: "flex: 0 1 15rem; min-width: 13rem" }, picture);
  frame(
    el,
    "Every head, on a text that comes twice",
    kinds,
    chooser,
    element("div", { class: "cl-side" }, place, beside),
    say,
    puzzles,
  );
  return state.close;
}

export default { render };
