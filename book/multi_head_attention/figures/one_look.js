// Six stories of three nouns, and what the verb receives of each through one row of weights, or two.
// A story is a point in the triangle of the nouns' values; a line joins the two with the same
// answer. A linear reader's regions are convex: it can answer exactly if no two of the lines meet.

import { strip } from "../../page/kit/cells.js";
import { connect, slider, tabs, toggle } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, steady, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { matmul } from "../../page/kit/numerics.js";
import { arrow, tokenRow } from "../../page/kit/parts.js";
import { label, part, stage } from "../../page/kit/stage.js";
import { tableRow } from "../../page/kit/tables.js";

const NOUNS = [0, 1, 2]; // entries of a value, corners of a triangle
const OTHERS = [
  [1, 2],
  [0, 2],
  [0, 1],
];
const SHOWN = [
  [0, 1],
  [1, 0],
]; // subject and object of the two stories that are drawn out
const DASHES = [null, "7 4", "2 4"]; // of the lines, one for each answer
const lineStyle = (dash) => ({
  class: "cl-shaft",
  "stroke-width": 2.5,
  "stroke-dasharray": dash,
});
const THICK = 16; // of an arrow with a weight of 1

/** What the verb receives if `weight` is on the subject and the rest on the object. */
const received = (values, weight, [subject, object]) =>
  values[subject].map((x, i) => weight * x + (1 - weight) * values[object][i]);

/** The two stories in which this noun is the answer. */
const storiesOf = (ask, noun) =>
  OTHERS[noun].map((other) => (ask === "who" ? [noun, other] : [other, noun]));

/** Where the lines of the other two nouns meet, as shares of the three; null if they do not. */
function meeting(ask, weight, noun) {
  const share = ask === "who" ? weight : 1 - weight; // of the answer, all along its line
  return share > 0.5 ? null : NOUNS.map((i) => (i === noun ? 1 - 2 * share : share));
}

/** How much of each head is the answer and nothing else, if there are two that differ; else []. */
function mixture(ask, { weight, second, other }) {
  if (!second || weight === other) return [];
  const gap = weight - other; // two equations: 1 for this noun, 0 for the other one
  return ask === "who" ? [(1 - other) / gap, (weight - 1) / gap] : [-other / gap, weight / gap];
}

/** Whether a linear reader can answer. */
const readable = (ask, value) =>
  mixture(ask, value).length > 0 || (ask === "who" ? value.weight > 0.5 : value.weight < 0.5);

/** A story in words, its arrows, and a strip for what each head makes of it. */
function drawStory(root, { nouns, verb, values }, i, { left, top, width, cell }) {
  const [subject, object] = SHOWN[i];
  const middle = left + width / 2,
    spread = Math.min(92, width / 3.2);
  const centres = [middle - spread, middle, middle + spread];
  root.append(label(`${i + 1}`, left + 8, top + 21, "cl-strong"));
  tokenRow(root, [nouns[subject], verb, nouns[object]], centres, { y: top });
  const ends = { y1: top + 35, y2: top + 94, w: 0, o: 0 };
  const heads = [0, 1].map((head) => {
    const arrows = [0, 2].map((from) =>
      arrow(root, "attention", { x1: centres[from], x2: middle, ...ends }, { bend: true }),
    );
    const first = { x: middle, y: top + 97, o: 0 };
    const look = { cell, most: 1, name: `received-${head + 1}`, first };
    const vector = strip(root, received(values, 1, SHOWN[i]), "v", look);
    nouns.forEach((noun, j) => vector.node.append(label(noun, (j + 0.5) * cell, 41, "cl-quiet")));
    vector.node.append(label(`head ${head + 1}`, 1.5 * cell, 58, "cl-own"));
    return { arrows, vector };
  });
  return (weights, options) =>
    heads.forEach(({ arrows, vector }, head) => {
      const weight = weights[head],
        seen = weight === undefined ? 0 : 1;
      const at = middle + (head - (weights.length - 1) / 2) * 3.3 * cell;
      [weight ?? 0, 1 - (weight ?? 1)].forEach((share, j) =>
        arrows[j].to({ x2: at + (j - 0.5) * cell, w: THICK * share, o: share ? 1 : 0 }, options),
      );
      if (seen) vector.set(received(values, weight, SHOWN[i]));
      vector.to({ x: at - 1.5 * cell, o: seen }, options);
    });
}

/** The triangle of one head: six stories as points, three lines, and where these meet. */
function drawTriangle(root, { nouns, values }, head, { middle, top, side }) {
  const bottom = top + side * Math.sqrt(0.75);
  const corners = [
    [middle - side / 2, bottom],
    [middle + side / 2, bottom],
    [middle, top],
  ];
  const place = (shares) => matmul([shares], corners)[0];
  const edge = `M${corners.map(([x, y]) => `${x} ${y}`).join("L")}Z`;
  const node = drawing(
    "g",
    { class: "cl-v" },
    drawing("path", { class: "cl-axis", d: edge }),
    [20, 20, -12].map((below, noun) =>
      label(nouns[noun], corners[noun][0], corners[noun][1] + below, "cl-strong"),
    ),
    label(`head ${head + 1}`, middle, bottom + 38, "cl-own"),
  );
  const whole = part(root, node);
  const lines = DASHES.map((dash) => {
    const line = drawing("path", lineStyle(dash));
    return part(node, line, { x1: middle, y1: top, x2: middle, y2: top }, ({ x1, y1, x2, y2 }) =>
      line.setAttribute("d", `M${x1} ${y1}L${x2} ${y2}`),
    );
  });
  const points = NOUNS.flatMap((subject) => OTHERS[subject].map((object) => [subject, object])).map(
    (story) => {
      const i = SHOWN.findIndex((shown) => String(shown) === String(story));
      const circle = drawing("circle", { class: "cl-tip", r: i < 0 ? 4 : 6 });
      const number = i < 0 ? [] : label(`${i + 1}`, i ? 6 : -6, 20, "cl-strong");
      return { story, point: part(node, drawing("g", {}, circle, number)) };
    },
  );
  const crosses = NOUNS.map(() => {
    const style = "stroke-dasharray: none; stroke-width: 3";
    const cross = drawing("path", { class: "cl-gap", style, d: "M-7 -7L7 7M-7 7L7 -7" });
    return part(node, cross, { o: 0 });
  });
  return (ask, weight, x, options) => {
    whole.to({ x, o: weight === undefined ? 0 : 1 }, options);
    const at = (story) => place(received(values, weight ?? 1, story));
    points.forEach(({ story, point }) => point.to({ x: at(story)[0], y: at(story)[1] }, options));
    NOUNS.forEach((noun) => {
      const [[x1, y1], [x2, y2]] = storiesOf(ask, noun).map(at);
      lines[noun].to({ x1, y1, x2, y2 }, options);
      const met = weight === undefined ? null : meeting(ask, weight, noun);
      crosses[noun].to(met ? { x: place(met)[0], y: place(met)[1], o: 1 } : { o: 0 }, options);
    });
  };
}

function render({ model, el }) {
  const data = model.get("data");
  const state = connect(model);
  const questions = { who: "who did it?", whom: "to whom?" };
  const weightsOf = ({ weight, second, other }) => (second ? [weight, other] : [weight]);

  const scene = stage(state, "Two stories, and the triangle of values", (root, width) => {
    const wide = width >= 560;
    const each = wide ? width / 2 - 14 : width,
      cell = Math.min(44, Math.floor(each / 6.6));
    const stories = SHOWN.map((_, i) =>
      drawStory(root, data, i, {
        left: wide ? i * (width / 2) : 0,
        top: wide ? 4 : 4 + i * 176,
        width: each,
        cell,
      }),
    );
    const top = wide ? 196 : 372,
      side = Math.min(270, width / 2 - (wide ? 60 : 34));
    const triangles = [0, 1].map((head) =>
      drawTriangle(root, data, head, { middle: (width * (2 * head + 1)) / 4, top, side }),
    );
    const foot = top + side * Math.sqrt(0.75) + 66;
    root.append(label("same answer:", 0, foot, "cl-start cl-quiet"));
    data.nouns.forEach((noun, i) => {
      const x = 96 + i * 70;
      const dash = drawing("path", { ...lineStyle(DASHES[i]), d: `M${x} ${foot - 4}h24` });
      root.append(drawing("g", { class: "cl-v" }, dash), label(noun, x + 29, foot, "cl-start"));
    });
    const pose = (value, options) => {
      const weights = weightsOf(value);
      stories.forEach((follow) => follow(weights, options));
      const aside = value.second ? 0 : width / 4; // a lone triangle is in the middle
      triangles.forEach((follow, head) => follow(value.ask, weights[head], aside, options));
    };
    return { height: foot + 8, pose };
  });

  const verdict = (ask) => {
    const style = "text-align: left; white-space: normal; width: 100%";
    const said = element("div", { "data-name": ask });
    const every = [1, 0.75].map((weight) => ({ ...state.value, second: true, weight, other: 0.8 }));
    steady(state, said, every, (value) => {
      const shares = mixture(ask, value).flatMap((share, head) => [
        head ? " + " : ": ",
        write(element("span"), share),
        ` · head ${head + 1}`,
      ]);
      const found = readable(ask, value) ? "✓ can be read" : "✗ no linear reader can tell";
      said.replaceChildren(found, ...shares);
    });
    return tableRow(questions[ask], element("td", { style }, said));
  };
  const verdicts = element(
    "table",
    { style: "width: 100%" },
    element("caption", {}, "From what the verb received, in all six stories"),
    element("tbody", {}, verdict("who"), verdict("whom")),
  );

  const share = (key, head, disabled) =>
    slider(state, key, `head ${head}, weight on the subject`, {
      min: 0,
      max: 1,
      step: 0.05,
      describe: (number) => format(number),
      disabled,
    });
  const controls = element(
    "div",
    { class: "cl-controls" },
    share("weight", 1),
    toggle(state, "second", "a second head"),
    share("other", 2, ({ second }) => !second),
  );
  const puzzles = goals(state, [
    {
      text: "With one head, make stories 1 and 2 the same vector.",
      reached: ({ second, weight }) => !second && weight === 0.5,
    },
    {
      text: "With one head, make “to whom?” readable. What happens to “who did it?”",
      reached: ({ second, weight }) => !second && weight < 0.5,
    },
    {
      text: "Make both questions readable while both heads lean to the subject.",
      reached: ({ second, weight, other }) =>
        second && weight > 0.5 && other > 0.5 && weight !== other,
    },
  ]);
  const tell = (value) => {
    const [can, cannot] = [true, false].map((wanted) =>
      Object.keys(questions)
        .filter((ask) => readable(ask, value) === wanted)
        .map((ask) => `“${questions[ask]}”`)
        .join(" and "),
    );
    const parts = [can && `${can} can be read`, cannot && `${cannot} cannot`].filter(Boolean);
    return `With ${value.second ? "two heads" : "one head"}, ${parts.join(", ")}.`;
  };
  const apart = { second: true, weight: 1, other: 0 },
    even = { second: false, weight: 0.5, other: 0 };
  const say = announce(state, tell, [apart, even, { ...even, weight: 1 }].map(tell));
  const question = tabs(state, "ask", "Join the same answers to", Object.entries(questions));
  frame(el, "One look, or two", controls, question, scene, verdicts, say, puzzles);
  return state.close;
}

export default { render };
