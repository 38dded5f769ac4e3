// Gradient descent in the page: one logit for each next word, the truth or words drawn from it, and
// the gradient of the cross-entropy, which is what the model says minus what was seen.

import { button, choice, connect, remember, slider } from "../../page/kit/controls.js";
import { announce, css, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax, clamp, randomAt, softmax } from "../../page/kit/numerics.js";
import { label, part, stage } from "../../page/kit/stage.js";

const MOST = 60; // steps that the picture has room for

css`
  .cl-descent {
    gap: 0.6rem;
    input[type="range"] {
      width: 8.5rem;
    }
    select {
      width: 10.5rem;
    }
  }
  @media (max-width: 40rem) {
    .cl-descent :is(input[type="range"], select) {
      width: 100%;
    }
  }
`;

/** The share of every word among `size` words drawn at one step; 0 words: the truth itself. */
function seenAt(truth, size, step) {
  if (size === 0) return truth;
  const counts = truth.map(() => 0);
  for (let i = 0; i < size; i++) {
    const number = randomAt(size, step * 1000 + i);
    let reached = 0;
    const word = truth.findIndex((p) => (reached += p) > number);
    counts[word < 0 ? truth.length - 1 : word] += 1 / size;
  }
  return counts;
}

const distance = (truth, said) =>
  truth.reduce((sum, p, i) => sum + (p ? p * Math.log(p / said[i]) : 0), 0);

/** Every step so far: logits, what the model says, what is seen there, the gradient, the distance. */
function train(truth, { rates, sizes }) {
  let logits = truth.map(() => 0);
  const record = (size, step) => {
    const said = softmax(logits),
      seen = seenAt(truth, size, step),
      gradient = said.map((p, i) => p - seen[i]);
    return { said, seen, gradient, distance: distance(truth, said) };
  };
  const trace = rates.map((rate, step) => {
    const now = record(sizes[step], step);
    logits = logits.map((z, i) => z - rate * now.gradient[i]);
    return now;
  });
  return (size) => [...trace, record(size, rates.length)];
}

const BATCHES = { one: 1, eight: 8, sixtyfour: 64, all: 0 };

function build(root, width, { words }) {
  const row = 23,
    first = 22,
    name = width < 480 ? 62 : 90,
    number = 46,
    half = (width - name - 2 * number - 16) / 2;
  const scale = half - 10;
  const heads = [
    ["model | truth", name, "cl-start"],
    ["− gradient: ← down, up →", name + number + half + 14 + scale / 2, ""],
  ];
  heads.forEach(([text, x, side]) => root.append(label(text, x, 12, `cl-strong ${side}`)));
  const lines = words.map((word, i) => {
    const y = first + i * row;
    const truth = drawing("path", { class: "cl-line", "data-name": "mark" });
    const rect = drawing("rect", { class: "cl-tint", x: name, y: y + 2, height: 15, rx: 2 });
    const push = drawing("rect", { class: "cl-tip", y: y + 2, height: 15, rx: 2 });
    const model = drawing("g", { class: "cl-model" });
    const bar = part(model, rect, { w: 0 }, ({ w }) => rect.setAttribute("width", Math.max(0, w)));
    const text = label("", name + half, y + 14, "cl-start"),
      slope = label("", width, y + 14, "cl-end");
    fill(text, { "data-name": "said" }, []);
    fill(slope, { "data-name": "push" }, []);
    root.append(
      label(word, 0, y + 14, "cl-start"),
      model,
      drawing("g", { class: "cl-measure" }, push),
      truth,
      text,
      slope,
    );
    return { y, bar, push, truth, text, slope };
  });
  const zero = name + number + half + 14 + scale / 2;
  const bottom = first + words.length * row;
  root.append(drawing("path", { class: "cl-axis", d: `M${zero} ${first}V${bottom}` }));
  const top = bottom + 24,
    floor = top + 66;
  const far = drawing("tspan", { "data-name": "distance" });
  const heading = label("nats above the best possible: ", 42, top - 8, "cl-start cl-strong");
  heading.append(far);
  const x = (step) => 42 + (step / MOST) * (width - 52);
  root.append(
    heading,
    drawing("path", { class: "cl-axis", d: `M42 ${floor}H${width - 10}M42 ${top}V${floor}` }),
    label("0", 34, floor + 4, "cl-end cl-quiet"),
    label(`steps, up to ${MOST}`, width - 10, floor + 18, "cl-end cl-quiet"),
  );
  const curve = drawing("path", { class: "cl-edge", style: "stroke-width: 2.5" });
  const end = drawing("circle", { class: "cl-tip", r: 4 });
  const start = label("", 34, top + 5, "cl-end cl-quiet");
  root.append(drawing("g", { class: "cl-model" }, curve, end), start);
  return {
    height: floor + 26,
    draw(trace, truth, { jump }) {
      const { said, gradient } = trace.at(-1);
      const most = Math.max(...truth, ...said);
      lines.forEach(({ y, bar, push, truth: mark, text, slope }, i) => {
        bar.to({ w: (said[i] / most) * scale }, { jump, ms: 250 });
        const at = name + (truth[i] / most) * scale;
        mark.setAttribute("d", `M${at} ${y - 1}v20`);
        const long = clamp(-gradient[i] / 0.6, -1, 1) * (scale / 2); // the way of a step
        fill(push, { "data-name": "way", x: zero + Math.min(0, long), width: Math.abs(long) }, []);
        write(text, said[i], 3);
        write(slope, -gradient[i], 3);
      });
      write(far, trace.at(-1).distance, 4);
      const highest = Math.max(...trace.map(({ distance }) => distance), 1e-6);
      const y = (nats) => floor - (nats / highest) * (floor - top);
      const points = trace.map(({ distance }, step) => `${x(step)} ${y(distance)}`);
      curve.setAttribute("d", `M${points.join("L")}`);
      const steps = trace.length - 1;
      fill(end, { cx: x(steps), cy: y(trace[steps].distance) }, []);
      start.textContent = format(highest, highest < 10 ? 2 : 0);
    },
  };
}

function render({ model, el }) {
  const { text, words, truth } = model.get("data");
  const state = connect(model);
  const steps = remember(({ rates, sizes }) => train(truth, { rates, sizes }));
  const trace = (value) => steps({ rates: value.rates, sizes: value.sizes })(BATCHES[value.batch]);
  const now = (value) => trace(value).at(-1);
  const rateOf = ({ rate }) => 2 ** rate;
  const go = (count) => (value) => {
    const more = Math.max(0, Math.min(count, MOST - value.rates.length));
    return {
      rates: [...value.rates, ...Array(more).fill(rateOf(value))],
      sizes: [...value.sizes, ...Array(more).fill(BATCHES[value.batch])],
    };
  };
  const full = (node, { rates }) => node.setAttribute("aria-disabled", rates.length === MOST);
  const controls = element(
    "div",
    { class: "cl-controls cl-descent" },
    slider(state, "rate", "learning rate", {
      min: -3,
      max: 6,
      describe: (power) => format(2 ** power, power < 0 ? 3 : 0),
    }),
    choice(state, "batch", "words seen at each step", [
      ["one", "1, drawn"],
      ["eight", "8, drawn"],
      ["sixtyfour", "64, drawn"],
      ["all", "all (the truth)"],
    ]),
    button(state, "One step", go(1), { class: "cl-main", draw: full }),
    button(state, "Ten steps", go(10), { draw: full }),
    button(state, "Start again", () => ({ rates: [], sizes: [] })),
  );
  const picture = stage(state, `What comes after “${text}”`, (root, width) => {
    const scene = build(root, width, { words });
    return { height: scene.height, pose: (value, move) => scene.draw(trace(value), truth, move) };
  });
  const say = announce(state, (value) => {
    const { gradient } = now(value);
    const count = value.rates.length;
    const most = argmax(gradient.map(Math.abs));
    const way = gradient[most] < 0 ? "raises" : "lowers";
    const begun = count === 1 ? "1 step" : `${count} steps`;
    const still = count === MOST || Math.abs(gradient[most]) < 0.001;
    const next = still ? "" : ` The next step ${way} “${words[most]}” most.`;
    return `After ${begun}: ${format(now(value).distance, 3)} nats above the best.${next}`;
  });
  const only = ({ sizes }, size) => sizes.length > 0 && sizes.every((n) => n === size);
  const puzzles = goals(state, [
    {
      text: "With the truth at every step: less than 0.001 nats within ten steps.",
      reached: (value) => only(value, 0) && value.sizes.length <= 10 && now(value).distance < 0.001,
    },
    {
      text: "With the truth: a rate so large that after 60 steps more than 0.05 nats are left.",
      reached: (value) =>
        only(value, 0) &&
        value.rates.length === MOST &&
        Math.min(...value.rates) >= 1 &&
        now(value).distance > 0.05,
    },
    {
      text: "With 8 words at each step: less than 0.01 nats. Does one rate do for all steps?",
      reached: (value) => only(value, 8) && value.sizes.length >= 10 && now(value).distance < 0.01,
    },
  ]);
  frame(el, `Learning what comes after “${text}”`, controls, picture, say, puzzles);
  return state.close;
}

export default { render };
