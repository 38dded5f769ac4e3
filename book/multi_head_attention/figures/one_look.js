// Six stories of three nouns, and what the verb receives of each through one row of weights, or two.
// A story, as "dog → man", is a point in the triangle of the nouns' values; a line joins the two with the same
// answer. A linear reader's regions are convex: it can answer exactly if no two of the lines meet.

import { strip } from "../../page/kit/cells.js";
import { connect, slider, tabs, toggle } from "../../page/kit/controls.js";
import {
  announce,
  drawing,
  element,
  fill,
  format,
  frame,
  steady,
  write,
} from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { matmul } from "../../page/kit/numerics.js";
import { group, label, part, stage } from "../../page/kit/stage.js";
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
]; // subject and object of the two stories whose vectors are written out
const TONES = ["var(--first)", "var(--second)", "var(--ink)"]; // of the answers

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

/** Where on its line the name of an answer is: not where two lines meet. */
function nameOn(ask, weight) {
  const share = ask === "who" ? weight : 1 - weight,
    crossing = share / (1 - share),
    outer = Math.min(crossing, 1 - crossing); // as a part of the line, from either end
  return outer > 0.2 ? outer / 2 : 0.5;
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

/** The vectors of two stories as one head makes them, side by side below its triangle. */
function drawVectors(root, { nouns, verb, values }, head, { middle, top, cell }) {
  const node = group(root, { o: 0 }, drawing("g", { class: "cl-v" }));
  const strips = SHOWN.map((story, i) => {
    const left = middle + (i ? 12 : -12 - 3 * cell),
      named = (text, x, y, name) => node.node.append(label(text, x, y, name));
    named(`${nouns[story[0]]} ${verb} ${nouns[story[1]]}`, left + 1.5 * cell, top, "cl-strong");
    nouns.forEach((noun, j) => named(noun, left + (j + 0.5) * cell, top + 47, "cl-quiet"));
    const look = { cell, most: 1, name: `received-${head + 1}`, first: { x: left, y: top + 7 } };
    return strip(node.node, received(values, 1, story), "v", look);
  });
  return (weight, x, options) => {
    if (weight !== undefined)
      strips.forEach((vector, i) => vector.set(received(values, weight, SHOWN[i])));
    node.to({ x, o: weight === undefined ? 0 : 1 }, options);
  };
}

/** The triangle of one head: six stories by name, a line for each answer, and where these meet. */
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
    {},
    drawing("path", { class: "cl-axis", d: edge }),
    [36, 36, -10].map((below, noun) =>
      label(nouns[noun], corners[noun][0], corners[noun][1] + below, "cl-strong"),
    ),
    label(`head ${head + 1}`, middle, bottom + 36, "cl-strong"),
  );
  const whole = part(root, node);
  const lines = NOUNS.map((noun) => {
    const line = drawing("path", { class: "cl-shaft", "stroke-width": 2.5 }),
      name = label(nouns[noun], 0, 0, "cl-over cl-strong");
    line.style.stroke = name.style.fill = TONES[noun];
    const both = drawing("g", {}, line, name);
    const first = { x1: middle, y1: top, x2: middle, y2: top, t: 0.5 }; // t: where its name is
    return part(node, both, first, ({ x1, y1, x2, y2, t }) => {
      line.setAttribute("d", `M${x1} ${y1}L${x2} ${y2}`);
      fill(name, { x: x1 + t * (x2 - x1), y: y1 + t * (y2 - y1) + 4 }, []);
    });
  });
  const points = NOUNS.flatMap((subject) => OTHERS[subject].map((object) => [subject, object])).map(
    (story) => {
      const name = label(`${nouns[story[0]]} → ${nouns[story[1]]}`, 0, 0, "cl-sub cl-quiet");
      const circle = drawing("circle", { class: "cl-tip", r: 4.5, style: "fill: var(--ink)" });
      return { story, name, point: part(node, drawing("g", {}, circle, name)) };
    },
  );
  const crosses = NOUNS.map(() => {
    const style = "stroke-dasharray: none; stroke-width: 3";
    const cross = drawing("path", { class: "cl-gap", style, d: "M-7 -7L7 7M-7 7L7 -7" });
    return part(node, cross, { o: 0 });
  });
  /** A name stands outside the triangle, away from that of the other story on the same edge. */
  const beside = ([subject, object], weight) => {
    const first = weight > 0.5 || (weight === 0.5 && subject < object);
    const near = first ? subject : object; // the corner that the story is near to
    const [a, b] = [subject, object].sort();
    if (b === 1) return near === 0 ? ["cl-end", 12, 19] : ["cl-start", -12, 19];
    return [a === 0 ? "cl-end" : "cl-start", a === 0 ? -9 : 9, near === 2 ? -1 : 11];
  };
  return (ask, weight, x, options) => {
    whole.to({ x, o: weight === undefined ? 0 : 1 }, options);
    const at = (story) => place(received(values, weight ?? 1, story));
    points.forEach(({ story, name, point }) => {
      point.to({ x: at(story)[0], y: at(story)[1] }, options);
      const [anchor, dx, dy] = beside(story, weight ?? 1);
      fill(name, { class: `${anchor} cl-sub cl-quiet`, x: dx, y: dy }, []);
    });
    NOUNS.forEach((noun) => {
      const [[x1, y1], [x2, y2]] = storiesOf(ask, noun).map(at);
      const met = weight === undefined ? null : meeting(ask, weight, noun);
      const t = nameOn(ask, weight ?? 1);
      lines[noun].to({ x1, y1, x2, y2, t }, options);
      crosses[noun].to(met ? { x: place(met)[0], y: place(met)[1], o: 1 } : { o: 0 }, options);
    });
  };
}

function render({ model, el }) {
  const data = model.get("data");
  const state = connect(model);
  const questions = { who: "who did it?", whom: "to whom?" };
  const weightsOf = ({ weight, second, other }) => (second ? [weight, other] : [weight]);

  const scene = stage(
    state,
    "Six stories in the triangle of values",
    (root, width, { second }) => {
      const wide = width >= 560,
        side = 178,
        foot = 24 + side * Math.sqrt(0.75) + 55, // of the triangle: the first line of its vectors
        lane = foot + 66;
      const heads = [0, 1].map((head) => {
        const middle = wide ? (width * (2 * head + 1)) / 4 : width / 2,
          top = wide ? 0 : head * lane;
        const triangle = drawTriangle(root, data, head, { middle, top: top + 24, side });
        const vectors = drawVectors(root, data, head, { middle, top: top + foot, cell: 42 });
        return { triangle, vectors };
      });
      const pose = (value, options) => {
        const weights = weightsOf(value);
        const aside = value.second || !wide ? 0 : width / 4; // a lone triangle is in the middle
        heads.forEach(({ triangle, vectors }, head) => {
          triangle(value.ask, weights[head], aside, options);
          vectors(weights[head], aside, options);
        });
      };
      return { height: (wide || !second ? 1 : 2) * lane - 14, pose };
    },
    { key: ({ second }) => second },
  );

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
    element("tbody", {}, verdict("who"), verdict("whom")),
  );

  const share = (key, head, disabled) =>
    slider(state, key, `head ${head}, on the subject`, {
      min: 0,
      max: 1,
      step: 0.05,
      describe: (number) => format(number),
      disabled,
    });
  const controls = element(
    "div",
    { class: "cl-controls", style: "column-gap: 1.2rem" },
    share("weight", 1),
    toggle(state, "second", "a second head"),
    share("other", 2, ({ second }) => !second),
  );
  const puzzles = goals(state, [
    {
      text: "With one head, give both stories the same vector.",
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
  say.classList.add("cl-hidden"); // the two lines above it show the same
  const question = tabs(state, "ask", "Join the same answers to", Object.entries(questions));
  frame(el, "One look, or two", controls, question, scene, verdicts, say, puzzles);
  return state.close;
}

export default { render };
