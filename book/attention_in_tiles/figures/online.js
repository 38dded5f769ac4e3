// One row of an online softmax: keys come one at a time, three numbers are kept, and when the maximum
// rises all that was summed shrinks by one factor. The reader chooses the order of the keys.

import { connect, remember } from "../../page/kit/controls.js";
import { drawing, fill, format, frame, write, writeOrDash } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { html } from "../../page/kit/html.js";
import { dot, softmax } from "../../page/kit/numerics.js";
import { NOTHING_HELD, runningSoftmax } from "../../page/kit/online_softmax.js";
import { tokenRow } from "../../page/kit/parts.js";
import { group, label, part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

/** What is held after each key of an order; held[0] is the start. */
function read({ scores, values }, order) {
  const held = [NOTHING_HELD];
  order.forEach((key) => held.push(runningSoftmax(held.at(-1), [scores[key]], [values[key]])));
  return held;
}

/** How often the maximum rises after the first key. */
const rises = (held) => held.slice(2).filter(({ rescale }) => rescale < 1).length;

const NUMBERS = [
  ["max", "max m", ({ largest }) => largest],
  ["sum", "sum ℓ", ({ total }) => total],
  ["blend", "blend u", ({ blend }) => blend],
  ["output", "u / ℓ", ({ total, blend }) => (total ? blend / total : NaN)],
];

function build(root, width, { scores, values }, state, follow) {
  const count = scores.length,
    column = width / count,
    top = 92,
    tall = 98,
    floor = top + tall; // a weight of 1 is `tall`
  const centre = (place) => (place + 0.5) * column;
  const inKind = (kind, ...nodes) => drawing("g", { class: `cl-${kind}` }, nodes);

  root.append(
    drawing("path", { class: "cl-axis", d: `M0 ${floor}H${width}` }),
    drawing("path", { class: "cl-axis", "stroke-dasharray": "3 4", d: `M0 ${top}H${width}` }),
    label("weight 1", 0, top - 5, "cl-start cl-quiet"),
  );
  const keys = scores.map((_, key) => `k${key + 1}`);
  const places = keys.map((_, key) => centre(key));
  const tokens = tokenRow(root, keys, places, {
    y: 2,
    height: 30,
    name: "read first",
    pick: (key) => {
      const { order } = state.value;
      state.set({ order: [key, ...order.filter((other) => other !== key)], step: 0 });
    },
  });
  const given = scores.map((score, key) =>
    group(
      root,
      { x: centre(key) },
      inKind("attention", label(`s = ${format(score)}`, 0, 50, "cl-own")),
      inKind("v", label(`v = ${format(values[key], 0)}`, 0, 68, "cl-own")),
    ),
  );
  const bars = scores.map((_, key) => {
    const bar = drawing("rect", {
        class: "cl-tint",
        width: Math.min(56, column - 16),
        opacity: 0.75,
      }),
      number = drawing("text", {});
    bar.setAttribute("x", -Math.min(56, column - 16) / 2);
    const node = inKind("attention", bar, number);
    const moving = part(root, node, { x: centre(key), y: floor, h: 0, o: 0 }, ({ h }) => {
      fill(bar, { y: -Math.max(0, h), height: Math.max(0, h) }, []);
      number.setAttribute("y", 17);
    });
    return { moving, number };
  });

  // the three numbers that are kept, and their ratio
  const box = floor + 34,
    cell = width / NUMBERS.length;
  const kept = NUMBERS.map(([name, title], i) => {
    const number = drawing("text", { x: (i + 0.5) * cell, y: box + 40, "data-name": name });
    number.classList.add("cl-strong");
    const kind = ["attention", "attention", "v", "v"][i];
    const edge = { x: i * cell + 4, y: box, width: cell - 8, height: 52, rx: 5 };
    const dashed = name === "output" ? { "stroke-dasharray": "4 3" } : {};
    root.append(
      inKind(
        kind,
        drawing("rect", { class: "cl-edge", ...edge, ...dashed }),
        label(title, (i + 0.5) * cell, box + 18, "cl-own"),
      ),
      number,
    );
    return number;
  });

  function pose({ step, order }, { jump }) {
    const held = follow(order),
      seen = Math.min(step, count),
      now = held[seen];
    order.forEach((key, place) => {
      const there = place < seen,
        weight = there ? Math.exp(scores[key] - now.largest) : 0;
      const on = { jump };
      tokens[key].to({ x: centre(place), o: there || place === seen ? 1 : 0.55 }, on);
      given[key].to({ x: centre(place), o: there ? 1 : 0.6 }, on);
      bars[key].moving.to({ x: centre(place), h: weight * tall, o: there ? 1 : 0 }, on);
      write(bars[key].number, weight);
      if (there) bars[key].number.dataset.name = "weight";
      else delete bars[key].number.dataset.name;
    });
    tokens.press(seen > 0 ? order[seen - 1] : -1);
    NUMBERS.forEach(([, , value], i) => writeOrDash(kept[i], value(now)));
  }
  return { height: box + 60, pose };
}

function render({ model, el }) {
  const data = model.get("data"),
    { scores, values } = data,
    count = scores.length;
  const state = connect(model);
  const all = remember((order) => read(data, order));
  const exact = dot(softmax(scores), values);
  const scene = stage(state, "One row, key by key", (root, width) =>
    build(root, width, data, state, all),
  );

  const start = () =>
    html`Four keys wait. Only one of them may be in memory at a time, with three numbers: the largest <b class="cl-attention">score</b> so far, and relative to it the sum and the blend. Choose a key to have it read first.`;
  const meet = (place) => (value) => {
    const held = all(value.order),
      [before, now] = held.slice(place, place + 2),
      key = value.order[place],
      weight = Math.exp(scores[key] - now.largest);
    const sums =
      `ℓ = ${format(before.total)} · ${format(now.rescale)} + ${format(weight)} = ` +
      `${format(now.total)}, and u = ${format(before.blend)} · ${format(now.rescale)} + ` +
      `${format(weight)} · ${format(values[key], 0)} = ${format(now.blend)}.`;
    if (place === 0) return `k${key + 1} is the first, so it is the maximum. ${sums}`;
    if (now.rescale === 1)
      return `k${key + 1} does not raise the maximum: the factor is 1. ${sums}`;
    return html`k${key + 1} raises the maximum from ${format(before.largest)} to ${format(now.largest)}. Everything summed so far shrinks by e<sup>${format(before.largest - now.largest)}</sup> = ${format(now.rescale)}. ${sums}`;
  };
  const end = (value) => {
    const { blend, total } = all(value.order).at(-1);
    return (
      `All have been read: u / ℓ = ${format(blend)} / ${format(total)} = ${format(blend / total)}. ` +
      `The softmax of the whole row gives ${format(exact)}, in every order of the keys.`
    );
  };
  const steps = [
    { name: "start", caption: start },
    ...scores.map((_, place) => ({ name: `key ${place + 1}`, caption: meet(place) })),
    { name: "done", caption: end },
  ];
  const puzzles = goals(state, [
    {
      text: "Find an order in which nothing is ever rescaled after the first key, and read it to the end.",
      reached: ({ step, order }) => step > count && rises(all(order)) === 0,
    },
    {
      text: "Find the order in which every key shrinks all that came before.",
      reached: ({ step, order }) => step > count && rises(all(order)) === count - 1,
    },
  ]);
  frame(el, "A softmax, key by key", scene, stepper(state, { steps }), puzzles);
  return state.close;
}

export default { render };
