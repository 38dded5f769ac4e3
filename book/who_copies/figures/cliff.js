// A small model on its way over the cliff: the loss, and what its four heads look at, step by step.

import { connect, slider } from "../../page/kit/controls.js";
import { announce, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax, clamp } from "../../page/kit/numerics.js";
import { draggable, label, part, stage } from "../../page/kit/stage.js";
import { meanBack, unpackMaps, weightMap } from "../../page/kit/weight_maps.js";

const CURVE = 84; // pixels of the loss
const LEFT = 34,
  GAP = 18;

function build(root, width, { steps, losses, maps, layers, period, letters }, state) {
  const most = Math.max(...losses);
  const across = (frame) => LEFT + ((width - LEFT - 12) * frame) / (steps.length - 1);
  const down = (loss) => 10 + (CURVE - 20) * (1 - loss / most);
  const line = losses.map((loss, i) => `${across(i)} ${down(loss)}`).join("L");
  root.append(
    drawing("path", { class: "cl-axis", d: `M${LEFT} 10V${down(0)}H${width - 12}` }),
    drawing(
      "g",
      { class: "cl-stream" },
      drawing("path", { class: "cl-shaft", "stroke-width": 2, d: `M${line}` }),
    ),
    label(format(most, 1), LEFT - 9, down(most) + 5, "cl-end"),
    label("0", LEFT - 9, down(0) + 4, "cl-end"),
    label("loss, nats", LEFT + 8, down(0) - 9, "cl-start cl-quiet"),
    label(`step ${steps.at(-1)}`, width - 12, CURVE + 10, "cl-end cl-quiet"),
  );
  const dot = drawing("circle", { class: "cl-ring cl-knob", r: 7 });
  const handle = drawing("g", {}, drawing("circle", { class: "cl-hit", r: 20 }), dot);
  const now = part(root, handle),
    last = steps.length - 1;
  const go = (frame) => state.set({ frame: clamp(frame, 0, last) });
  const { say: spell } = draggable(root, handle, {
    name: "place on the curve",
    move: (x) => go(Math.round(((x - LEFT) / (width - LEFT - 12)) * last)),
    nudge: (onward) => go(state.value.frame + onward),
  });
  fill(handle, { "aria-valuemin": 0, "aria-valuemax": steps[last] }, []);

  const heads = maps[0].length,
    columns = width >= 560 ? heads : Math.min(2, heads);
  const side = Math.floor((width - GAP * (columns - 1)) / columns),
    high = side + 74;
  const top = CURVE + 44;
  const places = Array.from({ length: heads }, (_, i) => ({
    x: (i % columns) * (side + GAP),
    y: top + Math.floor(i / columns) * high,
  }));
  const perLayer = heads / layers;
  const drawn = places.map((place, i) => {
    const title = `layer ${1 + Math.floor(i / perLayer)}, head ${1 + (i % perLayer)}`;
    const map = weightMap(root, letters.length, side, { title, name: "map", first: place });
    const scores = ["previous", "induction"].map((name, line) => {
      const number = drawing("tspan", { "data-name": name });
      const text = { x: place.x + side / 2, y: place.y + side + 17 + 17 * line };
      root.append(drawing("text", text, `${name} `, number));
      return number;
    });
    return { map, scores };
  });
  return {
    height: top + Math.ceil(heads / columns) * high - 26,
    pose({ frame }, { jump }) {
      now.to({ x: across(frame), y: down(losses[frame]) }, { jump, ms: 150 });
      spell(`step ${steps[frame]}, loss ${format(losses[frame])}`, steps[frame]);
      drawn.forEach(({ map, scores }, head) => {
        const weights = maps[frame][head];
        map.set(weights);
        [1, period - 1].forEach((back, i) => {
          const score = meanBack(weights, back, period);
          write(scores[i], score);
          scores[i].style.fontWeight = score > 0.5 ? "700" : "";
        });
      });
    },
  };
}

function render({ model, el }) {
  const data = model.get("data");
  const { steps, losses, layers, heads, period } = data;
  const all = unpackMaps(data.maps);
  const maps = steps.map((_, frame) => all.slice(frame * heads, (frame + 1) * heads));
  const state = connect(model);
  const best = (frame, back, layer) => {
    const width = heads / layers;
    const own = maps[frame].slice(layer * width, (layer + 1) * width);
    return Math.max(...own.map((map) => meanBack(map, back, period)));
  };
  const loss = element("b", { "data-name": "loss" });
  const controls = element(
    "div",
    { class: "cl-controls" },
    slider(state, "frame", "training step", {
      min: 0,
      max: steps.length - 1,
      describe: (frame) => String(steps[frame]),
    }),
    element("p", { class: "cl-quiet", style: "margin: 0" }, "loss now: ", loss, " nats"),
  );
  state.draw(({ frame }) => write(loss, losses[frame]));
  const scene = stage(state, "The loss, and the attention maps of every head", (root, width) =>
    build(root, width, { ...data, maps }, state),
  );
  const say = announce(state, ({ frame }) => {
    const looks = format(best(frame, 1, 0)),
      copies = format(best(frame, period - 1, layers - 1));
    return `After ${steps[frame]} steps the loss is ${format(losses[frame])} nats. The best previous-token score in layer 1 is ${looks}, the best induction score in layer ${layers} is ${copies}.`;
  });
  const falls = losses.slice(1).map((loss, i) => losses[i] - loss);
  const puzzles = goals(state, [
    {
      text: "Stand on the edge: stop just before the steepest fall of the loss.",
      reached: ({ frame }) => frame === argmax(falls),
    },
    {
      text: `Find the first step at which a head of layer ${layers} has an induction score above 0.5.`,
      reached: ({ frame }) =>
        frame > 0 &&
        best(frame, period - 1, layers - 1) > 0.5 &&
        best(frame - 1, period - 1, layers - 1) <= 0.5,
    },
  ]);
  const text = element("p", { class: "cl-quiet" }, `The text: ${data.letters.join(" ")}`);
  frame(el, "An induction head is born", controls, scene, text, say, puzzles);
  return state.close;
}

export default { render };
