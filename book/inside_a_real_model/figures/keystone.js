// One number of the first token, turned down: the vector that it stands in, the loss, what is written.

import { choice, connect, slider } from "../../page/kit/controls.js";
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
import { argmax, clamp } from "../../page/kit/numerics.js";
import { unpack } from "../../page/kit/packed.js";
import { draggable, label, part, stage } from "../../page/kit/stage.js";

const HIGH = 150; // pixels of the largest number

function build(root, width, { first, other, dimension, factors, losses, even }, state) {
  const most = Math.max(...first.map(Math.abs)),
    step = width / first.length;
  const ground = HIGH + 24;
  const tall = (number) => (HIGH * Math.abs(number)) / most;
  const bars = (numbers) =>
    Array.from(numbers, (number, i) =>
      i === dimension ? "" : `M${(i + 0.5) * step} ${ground}v${-Math.max(tall(number), 0.5)}`,
    ).join("");
  const rest = drawing("path", { class: "cl-shaft", "stroke-width": Math.max(step * 0.8, 0.5) });
  const bar = drawing("rect", { class: "cl-tip", x: -2.5, width: 5 });
  const number = drawing("text", { "data-name": "number" });
  number.setAttribute(
    "class",
    dimension * step > width / 2 ? "cl-end cl-strong" : "cl-start cl-strong",
  );
  number.setAttribute("x", dimension * step > width / 2 ? -13 : 13);
  root.append(
    drawing("path", { class: "cl-axis", d: `M0 ${ground}H${width}` }),
    drawing("g", { class: "cl-stream" }, rest),
    label(
      `dimension ${dimension}`,
      (dimension + 0.5) * step,
      ground + 18,
      dimension * step > width / 2 ? "cl-end" : "cl-start",
    ),
    label("0", 0, ground + 18, "cl-start cl-quiet"),
    label(`how large its ${first.length} numbers are`, 0, 14, "cl-start cl-quiet"),
  );
  const knob = drawing("circle", { class: "cl-ring cl-knob", r: 7 });
  const handle = drawing("g", {}, drawing("circle", { class: "cl-hit", r: 20 }), knob);
  const lone = part(
    root,
    drawing("g", { class: "cl-measure" }, bar, number, handle),
    { x: (dimension + 0.5) * step, y: ground, h: 0 },
    ({ h }) => {
      fill(bar, { y: -h, height: h }, []);
      handle.setAttribute("transform", `translate(0 ${-h})`);
      number.setAttribute("y", -Math.max(h - 12, 10));
    },
  );
  const go = (level) => state.set({ level: clamp(level, 0, factors.length - 1) });
  const whole = tall(first[dimension]);
  const { say: spell } = draggable(root, handle, {
    name: "height of the bar",
    move(_, y) {
      const wanted = (ground - y) / whole;
      const near = factors.map((factor) => -Math.abs(factor - wanted));
      go(argmax(near));
    },
    nudge: (_, up) => go(state.value.level - up),
  });
  fill(handle, { "aria-valuemin": 0, "aria-valuemax": 1 }, []);
  const low = ground + 56,
    span = Math.max(even, ...losses) * 1.08,
    across = (loss) => (width * loss) / span;
  const filled = drawing("rect", { class: "cl-tip", height: 18, y: low });
  root.append(
    drawing("rect", { class: "cl-axis", y: low, width, height: 18 }),
    drawing("g", { class: "cl-stream" }, filled),
    drawing("path", { class: "cl-axis", d: `M${across(even)} ${low - 6}v30`, "stroke-width": 2 }),
    label(`an even guess: ${format(even, 1)}`, across(even), low + 38, "cl-end"),
    label("loss on English", 0, low - 8, "cl-start"),
  );
  const wide = part(root, drawing("g", {}), { w: 0 }, ({ w }) => filled.setAttribute("width", w));
  return {
    height: low + 48,
    pose({ level, token }, move) {
      const own = token === "first" ? first : other;
      const value = own[dimension] * (token === "first" ? factors[level] : 1);
      rest.setAttribute("d", bars(own));
      handle.style.display = token === "first" ? "" : "none";
      spell(`${format(factors[level], 1)} times`, factors[level]);
      const text = write(number, value, 0).textContent;
      number.textContent = text.replace(/(?=(\d{3})+$)(?<=\d)/g, ",");
      lone.to({ h: tall(value) }, move);
      wide.to({ w: across(losses[level]) }, move);
    },
  };
}

function render({ model, el }) {
  const data = model.get("data");
  const { factors, losses, even, stories, dimension, block } = data;
  const state = connect(model);
  const scene = stage(state, "The numbers of one token's vector, and the loss", (root, width) =>
    build(root, width, { ...data, first: unpack(data.first), other: unpack(data.other) }, state),
  );
  const controls = element(
    "div",
    { class: "cl-controls" },
    slider(state, "level", "the number, times", {
      min: 0,
      max: factors.length - 1,
      describe: (level) => format(factors[level], 1),
    }),
    choice(state, "token", "show the vector of", [
      ["first", "the first token"],
      ["other", "another token"],
    ]),
    choice(state, "prompt", "go on from", Object.keys(stories)),
  );
  const loss = element("b", { "data-name": "loss" });
  const story = element("span", { "data-name": "story" });
  const prompt = element("b");
  const said = element("p", {}, "loss ", loss, " nats. It writes: ", prompt, story);
  const every = Object.keys(stories).flatMap((prompt) =>
    factors.map((_, level) => ({ prompt, level })),
  );
  steady(state, said, every, (value) => {
    write(loss, losses[value.level]);
    prompt.textContent = value.prompt;
    story.textContent = stories[value.prompt][value.level];
  });
  const say = announce(state, ({ level }) => {
    const than = losses[level] > even ? "worse than" : "better than";
    return `With ${format(factors[level], 1)} times the number in dimension ${dimension} after block ${block}, the loss is ${format(losses[level])} nats, ${than} an even guess.`;
  });
  const puzzles = goals(state, [
    {
      text: "Turn the number as far down as you can while the loss stays within half a nat of what it was.",
      reached: ({ level }) =>
        level > 0 &&
        losses[level] - losses[0] < 0.5 &&
        !losses.some((loss, i) => i > level && loss - losses[0] < 0.5),
    },
    {
      text: "Make the model worse than an even guess.",
      reached: ({ level }) => losses[level] > even,
    },
  ]);
  frame(el, "One number, turned down", controls, scene, said, say, puzzles);
  return state.close;
}

export default { render };
