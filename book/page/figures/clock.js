// Every pair of an address is a hand of a clock. One position is held, another slides, and each
// face says how far its two hands agree; the curve below says it for every position.

import { axes } from "../kit/axes.js";
import { choice, connect, slider } from "../kit/controls.js";
import { announce, drawing, element, fill, format, frame, write } from "../kit/dom.js";
import { goals } from "../kit/goals.js";
import { html } from "../kit/html.js";
import { angle } from "../kit/sinusoids.js";
import { label, part, stage } from "../kit/stage.js";

const LENGTH = 160; // positions on the curve
const FAST = 3; // hands that went round at least half-way in 32 positions
const HIGH = 0.9; // agreement that fools a reader of the fast hands

const mean = (numbers) => numbers.reduce((a, b) => a + b, 0) / numbers.length;

/** The cosine between the hands of every pair, and its mean over the fast hands and over all. */
function agreement({ position, held, width, base }) {
  const each = Array.from({ length: width / 2 }, (_, pair) =>
    Math.cos(angle(position - held, pair, width, base)),
  );
  return { each, fast: mean(each.slice(0, FAST)), all: mean(each) };
}

/** One face: a part whose numbers are the turns of its two hands, in radians. */
function face(root, pair, radius, place) {
  const hand = (attributes) =>
    drawing("path", { d: `M0 0V${5 - radius}`, "stroke-linecap": "round", ...attributes });
  const moving = hand({ stroke: "var(--tone)", "stroke-width": radius > 22 ? 5 : 3.5 }),
    held = hand({ stroke: "var(--ink)", "stroke-width": 1.8, "stroke-dasharray": "4 3.5" });
  const tint = drawing("circle", { class: "cl-tint", r: radius }),
    number = drawing("text", { y: radius + 15, "data-name": `agree-${pair}` });
  const rim = { class: "cl-edge", r: radius, style: `stroke-width: ${pair < FAST ? 3 : 1}px` };
  const node = drawing(
    "g",
    { class: "cl-position" },
    tint,
    drawing("circle", rim),
    moving,
    held,
    number,
  );
  const glide = part(root, node, { ...place, turn: 0, rest: 0 }, ({ turn, rest }) => {
    moving.setAttribute("transform", `rotate(${(turn * 180) / Math.PI})`);
    held.setAttribute("transform", `rotate(${(rest * 180) / Math.PI})`);
  });
  return (value, cosine, options) => {
    const at = (position) => angle(position, pair, value.width, value.base);
    write(number, cosine);
    tint.style.opacity = 0.35 * Math.max(0, cosine);
    glide.to({ turn: at(value.position), rest: at(value.held) }, { ...options, ms: 250 });
  };
}

/** How the faces of a clock stand in rows, and where these end. */
function rows(width, columns) {
  const top = 4,
    count = columns / 2,
    across = (count > 8 ? 8 : 4) * (width >= 560 ? 2 : 1),
    cell = width / across,
    radius = Math.min(34, cell / 2 - 5),
    roomy = count <= 8,
    row = 2 * radius + (roomy ? 46 : 26);
  return {
    top,
    count,
    across,
    cell,
    radius,
    roomy,
    row,
    end: top + Math.ceil(count / across) * row,
  };
}

/** All faces in rows, and below each the positions of one turn, where there is room for that. */
function faces(root, width, columns) {
  const { top, count, across, cell, radius, roomy, row } = rows(width, columns);
  const draws = Array.from({ length: count }, (_, pair) => {
    const x = (0.5 + (pair % across)) * cell,
      y = top + Math.floor(pair / across) * row + radius;
    const draw = face(root, pair, radius, { x, y }),
      turn = label("", x, y + radius + 32, "cl-quiet");
    if (roomy) root.append(turn);
    return (value, cosine, options) => {
      draw(value, cosine, options);
      turn.textContent = `turn: ${format((2 * Math.PI) / angle(1, pair, columns, value.base), 0)}`;
    };
  });
  return draws;
}

/** Agreement of every position with the held one, and a model's weights, where there are some. */
function curve(root, width, top, weights) {
  const left = 34,
    right = width - 8,
    high = top + 14,
    low = high + 130;
  const { x, y } = axes(
    root,
    { left, right, top: high, bottom: low },
    {
      x: { first: 0, last: LENGTH - 1, ticks: [0, 40, 80, 120] },
      y: { first: -1, last: 1, ticks: [-1, 0, 1], text: (cosine) => format(cosine, 0) },
    },
  );
  const bars = drawing("path", { class: "cl-shaft", "stroke-width": 3 }),
    all = drawing("path", { class: "cl-axis", "stroke-dasharray": "5 3", "stroke-width": 1.6 }),
    fast = drawing("path", { class: "cl-shaft", "stroke-width": 2.2 }),
    rest = drawing("path", { stroke: "var(--ink)", "stroke-dasharray": "4 3.5" }),
    here = drawing("path", { stroke: "var(--ink)", "stroke-width": 1.5 }),
    dot = drawing("circle", { class: "cl-tip", r: 5 });
  all.style.stroke = "var(--quiet)";
  root.append(
    drawing("g", { class: "cl-attention" }, bars),
    all,
    drawing("g", { class: "cl-position" }, fast, dot),
    rest,
    here,
  );
  const upright = (at) => `M${x(at)} ${high}V${low}`;
  const draw = (value) => {
    const points = Array.from({ length: LENGTH }, (_, position) =>
      agreement({ ...value, position }),
    );
    const path = (key) =>
      points.map((point, at) => `${at ? "L" : "M"}${x(at).toFixed(1)} ${y(point[key]).toFixed(1)}`);
    fast.setAttribute("d", path("fast").join(""));
    all.setAttribute("d", path("all").join(""));
    rest.setAttribute("d", upright(value.held));
    here.setAttribute("d", upright(value.position));
    fill(dot, { cx: x(value.position), cy: y(agreement(value).fast) }, []);
    const heights = weights?.[value.base] ?? [];
    const bar = (weight, at) => `M${x(at)} ${low}V${low - weight * (low - high)}`;
    bars.setAttribute("d", heights.map(bar).join(""));
  };
  return { draw, bottom: low + 24 };
}

/** Do the fast hands take one position for another, far away? */
const fooled = (value) => value.position > 40 && agreement(value).fast > HIGH;

const POSITION_GOALS = [
  {
    text: `Beyond 40, find where the fast hands agree with position 0 (above ${HIGH}).`,
    reached: (value) => value.held === 0 && fooled(value),
  },
  {
    text: "Hold position 20, and find the position beyond 60 that fools the fast hands now.",
    reached: (value) => value.held === 20 && value.position > 60 && fooled(value),
  },
];

const MODEL_GOALS = [
  {
    text: `With base 10000, find the far distance that the fast hands take for 3 (above ${HIGH}).`,
    reached: (value) => value.base === 10000 && fooled(value),
  },
  {
    text: "Choose another base, and find its false twin. Does the model look there?",
    reached: (value) => value.base !== 10000 && fooled(value),
  },
];

function render({ model, el }) {
  const { weights, bases, widths } = model.get("data");
  const state = connect(model);
  const what = weights ? "distance back" : "position";

  const picture = (columns) =>
    stage(state, "hands of a clock", (root, width) => {
      const draws = faces(root, width, columns);
      const bottom = Math.max(...widths.map((columns) => rows(width, columns).end));
      const below = curve(root, width, bottom, weights);
      return {
        height: below.bottom,
        pose(value, options) {
          if (value.width !== columns) return; // the other one is shown
          const { each } = agreement(value);
          draws.forEach((draw, pair) => draw(value, each[pair], options));
          below.draw(value);
        },
      };
    });
  const pictures = widths.map(picture),
    box = element("div");
  state.draw(({ width }) => box.replaceChildren(pictures[widths.indexOf(width)]));

  const controls = [slider(state, "position", `${what} =`, { min: 0, max: LENGTH - 1 })];
  if (!weights)
    controls.push(slider(state, "held", "held position =", { min: 0, max: LENGTH - 1 }));
  const pick = (key, name, options) => choice(state, key, name, options);
  const clocks = widths.map((width) => [width, `${width / 2} hands`]);
  if (widths.length > 1) controls.push(pick("width", "clock", clocks));
  if (bases.length > 1) controls.push(pick("base", "base", bases));

  const sum = (key) => {
    const number = element("b", { "data-name": key });
    state.draw((value) => write(number, agreement(value)[key]));
    return number;
  };
  const sums = element(
    "p",
    {},
    html`The <b class="cl-position">three fast hands</b> (solid) agree to ${sum("fast")}, all (dashed) to ${sum("all")}.`,
    weights ? html` Bars: the model’s <b class="cl-attention">weights</b>.` : "",
  );
  const puzzles = goals(state, weights ? MODEL_GOALS : POSITION_GOALS);
  const say = announce(state, (value) => {
    const { fast, all } = agreement(value);
    const apart = format(Math.abs(value.position - value.held), 0);
    return (
      `${weights ? "Distance" : "Position"} ${value.position}, held ${value.held}: ` +
      `${apart} apart. ` +
      `The fast hands agree to ${format(fast)}, all together to ${format(all)}.`
    );
  });
  const title = weights ? "The clock, and where the models look" : "The hands of a clock";
  say.classList.add("cl-hidden"); // the line above shows the same
  frame(el, title, element("div", { class: "cl-controls" }, controls), box, sums, say, puzzles);
  return state.close;
}

export default { render };
