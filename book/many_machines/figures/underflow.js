// Gradients by their size, and the window of a number format: a scale moves the one through the other.

import { axes } from "../../page/kit/axes.js";
import { connect, slider, tabs } from "../../page/kit/controls.js";
import { announce, drawing, element, format as written, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { label, part, stage } from "../../page/kit/stage.js";

const FIRST = -50,
  LAST = 30,
  HEIGHT = 190;

const raised = (k) => `2${[...String(k)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]).join("")}`;

/** The shares that become 0, that keep few digits, and that overflow. */
function lost(bins, [least, normal, most], shift) {
  const share = (which) => bins.reduce((sum, [k, x]) => sum + (which(k + shift) ? x : 0), 0);
  return [
    share((k) => k + 1 <= least),
    share((k) => k > least - 1 && k < normal),
    share((k) => k + 1 > most),
  ];
}

function build(root, width, bins, windowOf, shiftOf) {
  const box = { left: 10, right: width - 10, top: 26, bottom: HEIGHT - 40 };
  const inside = drawing("rect", {
    y: box.top,
    height: box.bottom - box.top,
    style: "fill: color-mix(in oklab, var(--first) 13%, var(--ground))",
  });
  const few = drawing("rect", {
    y: box.top,
    height: box.bottom - box.top,
    style: "fill: color-mix(in oklab, var(--second) 16%, var(--ground))",
  });
  root.append(inside, few);
  const ticks = width > 480 ? [-48, -40, -32, -24, -16, -8, 0, 8, 16, 24] : [-48, -24, 0, 24];
  const { x } = axes(root, box, {
    x: { first: FIRST, last: LAST, ticks, text: (k) => String(k).replace("-", "−") },
    y: { first: 0, last: 1 },
  });
  root.append(label("size of a gradient, as a power of 2", width / 2, HEIGHT - 4, "cl-quiet"));
  const clamped = (k) => Math.min(Math.max(x(k), box.left), box.right);
  const tallest = Math.max(...bins.map(([, share]) => share));
  const bars = bins.map(([k, share]) => {
    const tall = ((box.bottom - box.top) * share) / tallest;
    const rect = drawing("rect", {
      width: Math.max(1, x(1) - x(0) - 1),
      height: tall,
    });
    return { k, rect, bar: part(root, rect, { x: x(k), y: box.bottom - tall }) };
  });
  const [zero, digits, over] = ["cl-end", "", "cl-start"].map((place) => {
    const text = label("", 0, 16, `cl-sub ${place}`);
    root.append(text);
    return text;
  });
  const at = (node, left, right, text) => {
    node.setAttribute("x", left);
    node.setAttribute("width", Math.max(0, right - left));
    if (text) text[0].textContent = text[1];
  };
  return {
    height: HEIGHT,
    pose(value, move) {
      const [least, normal, most] = windowOf(value),
        shift = shiftOf(value);
      at(few, clamped(least), clamped(normal));
      at(inside, clamped(normal), clamped(most));
      zero.setAttribute("x", String(clamped(least) - 4));
      zero.textContent = x(least) - box.left > 34 ? "0 ←" : "";
      over.setAttribute("x", String(clamped(most) + 4));
      over.textContent = box.right - x(most) > 60 ? "→ overflow" : "";
      const middle = (clamped(least) + clamped(normal)) / 2;
      digits.setAttribute("x", String(middle));
      digits.textContent = clamped(normal) - clamped(least) > 50 ? "few digits" : "";
      for (const { k, rect, bar } of bars) {
        const low = k + shift;
        const isLost = low + 1 <= least || low + 1 > most;
        rect.style.fill = isLost
          ? "var(--second)"
          : low < normal
            ? "color-mix(in oklab, var(--second) 55%, var(--ink))"
            : "var(--first)";
        bar.to({ x: x(low), o: Number(low >= FIRST && low < LAST) }, move);
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
    const [zero, few, over] = of(value).map((share) => written(100 * share, 0));
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
