// Gradients by their size, and the window of a number format: a scale moves the one through the other.

import { axes } from "../../page/kit/axes.js";
import { connect, slider, tabs } from "../../page/kit/controls.js";
import { announce, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";

const FIRST = -50,
  LAST = 30,
  HEIGHT = 190;

const raised = (k) => `2${[...String(k)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("")}`;

/** Whether numbers from 2^k to 2^(k + 1) become 0, keep few digits, or overflow. */
const where = (k, [least, normal, most]) => [
  k < least - 1,
  k >= least - 1 && k < normal,
  k + 1 > most,
];

/** The share of all numbers in each of these three places. */
const lost = (bins, limits, shift) =>
  [0, 1, 2].map((i) => bins.reduce((sum, [k, x]) => sum + x * where(k + shift, limits)[i], 0));

const tint = (tone, share, ground) =>
  `color-mix(in oklab, var(--${tone}) ${share}%, var(--${ground}))`;

function build(root, width, bins, windowOf, shiftOf) {
  const box = { left: 10, right: width - 10, top: 26, bottom: HEIGHT - 40 };
  const height = box.bottom - box.top;
  const [few, inside] = ["second", "first"].map((tone) =>
    drawing("rect", { y: box.top, height, style: `fill: ${tint(tone, 15, "ground")}` }),
  );
  const [zero, digits, over] = ["cl-end", "", "cl-start"].map((at) => label("", 0, 16, at));
  root.append(few, inside, zero, digits, over);
  const ticks = width > 480 ? [-48, -40, -32, -24, -16, -8, 0, 8, 16, 24] : [-48, -24, 0, 24];
  const { x } = axes(root, box, {
    x: { first: FIRST, last: LAST, ticks, text: (k) => format(k, 0) },
    y: { first: 0, last: 1 },
  });
  root.append(label("size of a gradient, as a power of 2", width / 2, HEIGHT - 4, "cl-quiet"));
  const tallest = Math.max(...bins.map(([, share]) => share));
  const bars = bins.map(([k, share]) => {
    const tall = (height * share) / tallest;
    const rect = drawing("rect", { width: Math.max(1, x(1) - x(0) - 1), height: tall });
    return { k, rect, bar: part(root, rect, { x: x(k), y: box.bottom - tall }) };
  });
  return {
    height: HEIGHT,
    pose(value, move) {
      const [least, normal, most] = windowOf(value),
        shift = shiftOf(value);
      // Half of the smallest number is still rounded to it.
      const [low, middle, high] = [least - 1, normal, most].map((k) =>
        Math.min(Math.max(x(k), box.left), box.right),
      );
      fill(few, { x: low, width: middle - low }, []);
      fill(inside, { x: middle, width: high - middle }, []);
      const say = (text, at, room, words) => {
        text.setAttribute("x", String(at));
        text.textContent = room ? words : "";
      };
      say(zero, low - 4, low - box.left > 34, "0 ←");
      say(digits, (low + middle) / 2, middle - low > 70, "few digits");
      say(over, high + 4, box.right - high > 80, "→ overflow");
      for (const { k, rect, bar } of bars) {
        const [isZero, isCoarse, isOver] = where(k + shift, [least, normal, most]);
        rect.style.fill = isCoarse
          ? tint("second", 55, "ink")
          : `var(--${isZero || isOver ? "second" : "first"})`;
        bar.to({ x: x(k + shift), o: Number(k + shift >= FIRST && k + shift < LAST) }, move);
      }
    },
  };
}

function render({ model, el }) {
  const { bins, formats, tokens } = model.get("data");
  const state = connect(model);
  const windowOf = (value) => formats[value.format];
  const shiftOf = (value) => value.scale - (value.tokens - tokens);
  const of = (value) => lost(bins, windowOf(value), shiftOf(value));
  const numbers = ["zero", "few", "over"].map((name) => element("b", { "data-name": name }));
  state.draw((value) => of(value).forEach((share, i) => write(numbers[i], 100 * share, 1)));
  const count = (value) => (2 ** value.tokens).toLocaleString("en");
  const tell = (value) => {
    const [zero, few, over] = of(value).map((share) => format(100 * share, 0));
    return (
      `${value.format}, a mean over ${count(value)} tokens, scale ${raised(value.scale)}: ` +
      `${zero} % become 0, ${few} % keep few digits, ${over} % overflow.`
    );
  };
  const fits = (value) => of(value).every((share) => share < 0.02);
  frame(
    el,
    "Through the window of a format",
    tabs(state, "format", "format", Object.keys(formats)),
    element(
      "div",
      { class: "cl-controls" },
      slider(state, "scale", "scale of the loss", {
        min: 0,
        max: 40,
        describe: raised,
      }),
      slider(state, "tokens", "tokens in the mean", {
        min: 6,
        max: 24,
        describe: (_, value) => count(value),
      }),
    ),
    stage(state, "Gradients by size, and the window of the format", (root, width) =>
      build(root, width, bins, windowOf, shiftOf),
    ),
    element(
      "p",
      {},
      "become 0: ",
      numbers[0],
      " %; keep few digits: ",
      numbers[1],
      " %; overflow: ",
      numbers[2],
      " %",
    ),
    announce(state, tell),
    goals(state, [
      {
        text: "fp16, a million tokens: find a scale at which each of the three is below 2 %.",
        reached: (value) => value.format === "fp16" && value.tokens >= 20 && fits(value),
      },
      {
        text: "The same tokens, no scale: find a format that still needs none.",
        reached: (value) => value.scale === 0 && value.tokens >= 20 && fits(value),
      },
      {
        text: "fp16: scale until a tenth of the gradients overflow.",
        reached: (value) => value.format === "fp16" && of(value)[2] > 0.1,
      },
    ]),
  );
  return state.close;
}

export default { render };
