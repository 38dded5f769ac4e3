// Every hand of a position on a face of its own. The arc is what training showed of it; a hand that
// points outside its arc is dashed, and said to be new.

import { choice, connect, slider } from "../../page/kit/controls.js";
import { announce, drawing, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { html } from "../../page/kit/html.js";
import { label, part, stage } from "../../page/kit/stage.js";

const LAST = 159; // the last position of the chapter's longest sequences
const ROUND = 2 * Math.PI;

/** Per hand: its angle, the arc that training showed, and whether it points outside that arc. */
function hands({ position, cure }, { trained, speeds }) {
  return speeds[cure].map((speed, hand) => {
    const angle = position * speed,
      arc = Math.min(ROUND, trained * speeds["as trained"][hand]);
    return { angle, arc, fresh: angle % ROUND > arc };
  });
}

const count = (value, data) => hands(value, data).filter(({ fresh }) => fresh).length;

/** A sector from twelve o'clock on. */
function sector(radius, arc) {
  const [x, y] = [radius * Math.sin(arc), -radius * Math.cos(arc)];
  return `M0 0V${-radius}A${radius} ${radius} 0 ${arc > Math.PI ? 1 : 0} 1 ${x} ${y}Z`;
}

/** A face at a place, its arc, its hand, its turns and what is said of them. */
function face(root, hand, radius, place, arc) {
  const moving = drawing("path", {
    d: `M0 0V${5 - radius}`,
    stroke: "var(--ink)",
    "stroke-width": 4,
    "stroke-linecap": "round",
  });
  const shape =
    arc < ROUND
      ? drawing("path", { d: sector(radius, arc), fill: "var(--tone)", opacity: 0.35 })
      : drawing("circle", { r: radius, fill: "var(--tone)", opacity: 0.35 });
  const turns = drawing("text", { y: radius + 16, "data-name": `turns-${hand}` });
  const node = drawing(
    "g",
    { class: "cl-position" },
    shape,
    drawing("circle", { class: "cl-edge", r: radius }),
    moving,
    turns,
  );
  const glide = part(root, node, { ...place, turn: 0 }, ({ turn }) =>
    moving.setAttribute("transform", `rotate(${(turn * 180) / Math.PI})`),
  );
  const said = label("", place.x, place.y + radius + 33, "cl-quiet");
  root.append(said);
  return ({ angle, fresh }, options) => {
    write(turns, angle / ROUND);
    said.textContent = fresh ? "new" : "seen";
    said.classList.toggle("cl-strong", fresh);
    moving.setAttribute("stroke-dasharray", fresh ? "2 6" : "");
    glide.to({ turn: angle }, { ...options, ms: 250 });
  };
}

function render({ model, el }) {
  const data = model.get("data"),
    names = Object.keys(data.speeds);
  const state = connect(model);
  const box = stage(state, "hands, and the angles that training showed", (root, width) => {
    const start = hands({ position: 0, cure: "as trained" }, data),
      across = width >= 560 ? 8 : 4,
      cell = width / across,
      radius = Math.min(38, cell / 2 - 5),
      row = 2 * radius + 48;
    const draws = start.map(({ arc }, hand) => {
      const x = (0.5 + (hand % across)) * cell,
        y = 4 + Math.floor(hand / across) * row + radius;
      return face(root, hand, radius, { x, y }, arc);
    });
    return {
      height: 4 + (start.length / across) * row,
      pose: (value, options) => {
        const all = hands(value, data);
        draws.forEach((draw, hand) => draw(all[hand], options));
      },
    };
  });
  const controls = [slider(state, "position", "position =", { min: 0, max: LAST })];
  if (names.length > 1)
    controls.push(
      choice(
        state,
        "cure",
        "hands",
        names.map((name) => [name, name]),
      ),
    );
  const number = element("b", { "data-name": "new" });
  state.draw((value) => write(number, count(value, data), 0));
  const sum = element(
    "p",
    {},
    html`Shaded: the angles of the first ${String(data.trained)} positions. ${number} of 8 hands point where they never did in training. Below each: its turns.`,
  );
  const list = [
    {
      text: "Beyond 60, find a position at which only five hands are new.",
      reached: (value) =>
        value.cure === "as trained" && value.position > 60 && count(value, data) === 5,
    },
  ];
  if (names.length > 1)
    list.push({
      text: "At the last position, find hands none of which is new, while the first keeps its speed.",
      reached: (value) =>
        value.position === LAST &&
        count(value, data) === 0 &&
        data.speeds[value.cure][0] === data.speeds["as trained"][0],
    });
  const say = announce(
    state,
    (value) =>
      `Position ${value.position}, ${value.cure}: ${format(count(value, data), 0)} of 8 hands are new.`,
  );
  say.classList.add("cl-hidden"); // the line above shows the same
  const title = "What the hands have seen";
  frame(
    el,
    title,
    element("div", { class: "cl-controls" }, controls),
    box,
    sum,
    say,
    goals(state, list),
  );
  return state.close;
}

export default { render };
