// The words nearest to a word, on a scale of cosines; below, on the same scale, the cosines of words
// drawn at random. Taking off what all rows share moves them all.

import { choice, connect, toggle } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";

const LEFT = 112; // pixels for the words
const ROW = 27;
const TALL = 74; // pixels of the highest bin

function build(root, width, { shown, crowds, lowest, highest }) {
  const right = width - 40;
  const x = (cosine) => LEFT + ((cosine - lowest) / (highest - lowest)) * (right - LEFT);
  const ground = shown * ROW + TALL + 14;
  const bins = crowds[0].ways[0].shares.length;
  const most = Math.max(...crowds.flatMap(({ ways }) => ways.flatMap(({ shares }) => shares)));
  root.append(
    drawing("path", { class: "cl-axis", d: `M${LEFT} ${ground}H${right}` }),
    ...[0, 0.5, 1].flatMap((cosine) => [
      drawing("path", { class: "cl-axis", d: `M${x(cosine)} 6V${ground + 5}`, opacity: 0.5 }),
      label(String(cosine), x(cosine), ground + 19, "cl-quiet"),
    ]),
    label("cosine", LEFT, ground + 19, "cl-start cl-quiet"),
    label("random words", 0, ground - 4, "cl-start cl-quiet"),
  );
  const curves = crowds.map((_, i) => {
    const line = drawing("path", {
      style: `fill: none; stroke: var(--${i ? "second" : "first"}); stroke-width: 2.2`,
      "stroke-dasharray": i ? "5 4" : null,
    });
    const heights = Object.fromEntries(Array.from({ length: bins }, (_, k) => [`h${k}`, 0]));
    const step = (right - LEFT) / bins;
    return part(root, line, { ...heights }, (now) => {
      const points = Array.from(
        { length: bins },
        (_, k) => `${LEFT + (k + 0.5) * step} ${ground - (TALL * now[`h${k}`]) / most}`,
      );
      line.setAttribute("d", `M${points.join("L")}`);
    });
  });
  const rows = Array.from({ length: shown }, (_, i) => {
    const y = i * ROW + ROW / 2;
    const word = label("", 0, y + 5, "cl-start");
    word.dataset.name = "near";
    const number = drawing("text", { x: 10, y: 5, class: "cl-start cl-strong" });
    number.dataset.name = "cosine";
    const dot = part(root, drawing("g", {}, drawing("circle", { r: 5.5 }), number), {
      x: x(0),
      y,
    });
    dot.node.firstChild.style.fill = "var(--first)";
    root.append(word);
    return { word, number, dot };
  });
  return {
    height: ground + 26,
    pose({ near, cosines, without }, move) {
      rows.forEach(({ word, number, dot }, i) => {
        word.textContent = near[i];
        write(number, cosines[i]);
        dot.to({ x: x(cosines[i]) }, move);
      });
      curves.forEach((curve, i) => {
        const { shares } = crowds[i].ways[Number(without)];
        curve.to(Object.fromEntries(shares.map((share, k) => [`h${k}`, share])), move);
      });
    },
  };
}

function render({ model, el }) {
  const { words, groups, crowds, lowest, highest } = model.get("data");
  const state = connect(model);
  const now = ({ word, without }) => words[word][Number(without)];
  const shown = Object.values(words)[0][0].near.length;
  const scene = stage(state, "The nearest words, and random ones, by cosine", (root, width) => {
    const { height, pose } = build(root, width, { shown, crowds, lowest, highest });
    return { height, pose: (value, move) => pose({ ...value, ...now(value) }, move) };
  });
  const controls = element(
    "div",
    { class: "cl-controls" },
    choice(
      state,
      "word",
      "word",
      Object.entries(groups).map(([group, options]) => ({ group, options })),
    ),
    toggle(state, "without", "without what all rows share"),
  );
  const means = crowds.map(({ name, ways }, i) => {
    const number = element("b", { "data-name": "mean" });
    state.draw(({ without }) => write(number, ways[Number(without)].mean));
    return element(
      "span",
      { style: "margin-right: 1.4rem; display: inline-block" },
      element("span", { style: `color: var(--${i ? "second" : "first"})` }, i ? "┄┄ " : "── "),
      `${name}: `,
      number,
    );
  });
  const legend = element("p", { class: "cl-score" }, "Mean cosine of two random words. ", means);
  const tell = (value) => {
    const { near, cosines, back } = now(value);
    const mutual = back === value.word;
    return (
      `The nearest to “${value.word}” is “${near[0]}” (cosine ${format(cosines[0])}). ` +
      (mutual ? "Each is the other's nearest." : `The nearest to “${near[0]}” is “${back}”.`)
    );
  };
  const every = Object.keys(words).flatMap((word) =>
    [false, true].map((without) => ({ word, without })),
  );
  const say = announce(state, tell, every.map(tell));
  const puzzles = goals(state, [
    {
      text: "Find a word whose nearest neighbour has a still nearer neighbour of its own.",
      reached: (value) => now(value).back !== value.word,
    },
    {
      text: "Find a loner: no neighbour has a cosine above 0.4.",
      reached: (value) => now(value).cosines[0] < 0.4,
    },
    {
      text: "Find a word whose nearest neighbour changes when the common part is subtracted.",
      reached: ({ word, without }) => without && words[word][0].near[0] !== words[word][1].near[0],
    },
  ]);
  frame(el, "Who is near?", controls, scene, legend, say, puzzles);
  return state.close;
}

export default { render };
