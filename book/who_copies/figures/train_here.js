// A small Transformer that trains in the page: its loss, its attention maps, and the wires between its layers.

import { axes } from "../../page/kit/axes.js";
import { button, choice, connect } from "../../page/kit/controls.js";
import { announce, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { randomAt } from "../../page/kit/numerics.js";
import { cutOrMended, wire } from "../../page/kit/parts.js";
import { label, stage } from "../../page/kit/stage.js";
import { meanBack, unpackMaps, weightMap } from "../../page/kit/weight_maps.js";
import { attentionOnly } from "../attention_only.js";

const WARMUP = 50; // steps
const SLICE = 10; // milliseconds of training in a frame, so that the page stays quick
const MOST = 7; // nats, the top of the curve
const KEPT = 4; // earlier runs whose curves stay
const WIRES = { q: "queries", k: "keys", v: "values" };

/** A model at its start, and what trains it. */
function begin({ shape, kernel, periods, text, steps, every }, { layers, rate, seed }) {
  let drawn = 0;
  const random = () => randomAt(seed, drawn++);
  const upTo = (end) => Math.floor(end * random());
  const { V, T, B } = shape;
  let model,
    kind = "WebAssembly";
  try {
    const bytes = Uint8Array.from(atob(kernel), (character) => character.charCodeAt(0));
    model = attentionOnly({ layers, ...shape }, bytes, random);
  } catch {
    [model, kind] = [attentionOnly({ layers, ...shape }, null, random), "JavaScript"];
  }
  /** Letters that repeat with a random period, and the periods. */
  const repeated = () => {
    const [low, high] = periods;
    const period = Int32Array.from({ length: B }, () => low + upTo(high - low + 1));
    const ids = new Int32Array(B * T);
    for (let at = 0; at < B * T; at++) {
      const back = period[Math.floor(at / T)];
      ids[at] = at % T < back ? upTo(V) : ids[at - back];
    }
    return { ids, period };
  };
  const seen = repeated(); // what the loss and the maps are of; nothing of it is trained on
  for (let t = 0; t < T; t++) seen.ids[t] = text[t % text.length];
  seen.period[0] = text.length;

  const run = {
    key: keyOf({ layers, rate, seed }),
    kind,
    step: 0,
    busy: 0, // milliseconds
    curve: [],
    maps: [],
    lossWithout(cut) {
      model.forward(seen.ids, cut);
      return model.loss(seen.ids, seen.period);
    },
    look() {
      run.curve.push(run.lossWithout(""));
      run.maps = Array.from({ length: layers }, (_, layer) => model.map(layer, 2 * text.length));
    },
    /** Train for a slice of time, up to the next look. */
    train() {
      const start = performance.now();
      do {
        const { ids } = repeated();
        model.forward(ids);
        model.loss(ids);
        model.backward(ids);
        model.adamW(rate * Math.min(1, 0.02 + (0.98 * run.step) / WARMUP));
        run.step++;
      } while (performance.now() - start < SLICE && run.step % every && run.step < steps);
      run.busy += performance.now() - start;
    },
  };
  run.look();
  return run;
}

const keyOf = ({ layers, rate, seed }) => `${layers} ${rate} ${seed}`;

/** The loss over the steps: the finished run of PyTorch and earlier ones pale, the present one with a dot. */
function plot(root, width, { losses, steps, every }, even) {
  const box = { left: 26, right: width - 24, top: 8, bottom: 100 };
  const { x, y } = axes(root, box, {
    x: { first: 0, last: steps, ticks: [0, steps / 2, steps], text: (step) => `step ${step}` },
    y: { first: 0, last: MOST, ticks: [0, 2, 4, 6] },
  });
  const place = (step, loss) => `${x(step)} ${y(Math.min(loss, MOST))}`;
  const line = (curve) =>
    curve.length ? `M${curve.map((loss, i) => place(i * every, loss)).join("L")}` : "";
  const path = (attributes) => drawing("path", { class: "cl-shaft", ...attributes });
  const pale = drawing("g", { class: "cl-stream", opacity: 0.45 });
  const own = path({ "stroke-width": 2.5, "data-name": "curve" });
  const jump = path({ "stroke-width": 2, "stroke-dasharray": "2 5" });
  const dot = drawing("circle", { class: "cl-tip", r: 5.5, "data-name": "dot" });
  const [step, loss, pace] = ["step", "loss", "pace"].map((name) =>
    drawing("tspan", { "data-name": name }),
  );
  const now = drawing("text", { x: box.right, y: box.top + 6, class: "cl-end" });
  now.append("step ", step, ", loss on the second copies ", loss, " nats", pace);
  root.append(
    drawing("path", { class: "cl-line", d: `M${box.left} ${y(even)}H${box.right}` }),
    label(
      "an even guess among the letters seen",
      box.left + 6,
      y(even) + 14,
      "cl-start cl-quiet cl-over",
    ),
    now,
    pale,
    drawing("g", { class: "cl-measure" }, own, jump, dot),
  );
  return (run, earlier, value) => {
    const curves = [losses, ...earlier].map((curve) =>
      path({ "stroke-width": 2, d: line(curve), "data-name": "earlier" }),
    );
    pale.replaceChildren(...curves);
    const curve = run?.curve ?? losses;
    own.setAttribute("d", run ? line(curve) : "");
    const at = (curve.length - 1) * every,
      end = curve.at(-1);
    jump.setAttribute("d", `M${place(at, end)}L${place(at, value.loss)}`);
    fill(dot, { cx: x(at), cy: y(Math.min(value.loss, MOST)) }, []);
    write(step, at, 0);
    write(loss, value.loss);
    const each = run ? `${format(run.busy / run.step, 1)} ms a step in ${run.kind}` : "in PyTorch";
    pace.textContent = width < 560 ? "" : `, ${each}`;
  };
}

/** The attention maps, and the wires from layer 1 to layer 2 between them. */
function layersAndWires(root, width, top, { text, layers, by = "" }, turn) {
  const side = Math.min(168, Math.floor((width - 104) / 2)),
    narrow = width < 560;
  const length = 2 * text.length;
  const maps = Array.from({ length: layers }, (_, layer) => {
    const x = layer * (width - side);
    const map = weightMap(root, length, side, {
      title: `layer ${layer + 1}${by}`,
      name: "map",
      first: { x, y: top },
    });
    const score = drawing("tspan", { "data-name": layer ? "induction" : "previous" });
    const [back, copy] = layer ? ["eleven back", "second copy"] : ["one back", "first copy"];
    const lines = narrow ? [back, `${copy}: `] : [`${back}, ${copy}: `];
    const edge = layer ? "cl-end" : "cl-start";
    const below = lines.map((line, i) =>
      label(line, x + layer * side, top + side + 17 + 16 * i, edge),
    );
    below.at(-1).append(score);
    root.append(...below);
    return { map, score };
  });
  const from = side + 4,
    to = width - side - 4,
    middle = top + side / 2;
  const wires =
    layers === 1
      ? []
      : Object.entries(WIRES).map(([letter, name], i) => {
          const y = middle + 46 * (i - 1),
            half = (from + to) / 2;
          const d = narrow
            ? `M${from} ${y}H${to}`
            : `M${from} ${middle}C${from + 50} ${middle} ${from + 20} ${y} ${half - 60} ${y}H${to}`;
          const plate = { d, x: half, y, wide: narrow ? 80 : 128 };
          const said = narrow ? name : `${letter.toUpperCase()}: ${name}`;
          const node = wire(/** @type {Kind} */ (letter), name, { ...plate, text: said }, () =>
            turn(letter),
          );
          root.append(node);
          return { letter, node };
        });
  if (layers === 1) root.append(label("no layer 2", (from + to) / 2, middle, "cl-quiet"));
  const pose = (shown, cut, mayCut) => {
    maps.forEach(({ map, score }, layer) => {
      const [rows, copy] = [shown[layer], text.length];
      map.set(rows);
      write(score, layer ? meanBack(rows, copy - 1, copy) : meanBack(rows.slice(0, copy), 1, 1));
    });
    for (const { letter, node } of wires)
      fill(
        node,
        { "aria-pressed": String(cut.includes(letter)), "aria-disabled": String(!mayCut) },
        [],
      );
  };
  return { height: top + side + (narrow ? 40 : 24), pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const { steps, every, losses, periods } = data;
  const finished = unpackMaps(data.maps);
  const state = connect(model);
  const many = Array.from({ length: periods[1] - periods[0] + 1 }, (_, i) => periods[0] + i);
  const { V, T } = data.shape;
  const different = (period) => V * (1 - (1 - 1 / V) ** period); // some letters come twice
  const asked = many.map((period) => T - 1 - period); // predictions from the second copy on
  const even =
    many.reduce((sum, period, i) => sum + asked[i] * Math.log(different(period)), 0) /
    asked.reduce((sum, count) => sum + count, 0);
  const opening = { running: false, step: 0, loss: losses.at(-1), cut: "" };

  let run = null, // the present one; without one, the figure shows that of PyTorch
    waiting = 0,
    visible = false;
  const earlier = [];
  // A pause waits for the next look, so that the numbers shown are those of the model that is there.
  const wanted = () => state.value.running || (run && run.step % every !== 0);
  const next = () => {
    if (wanted() && visible && !waiting) waiting = requestAnimationFrame(work);
  };
  function work() {
    waiting = 0;
    if (!wanted()) return;
    run ??= begin(data, state.value);
    run.train();
    if (run.step % every === 0) {
      run.look();
      const running = state.value.running && run.step < steps;
      state.set({ running, step: run.step, loss: run.curve.at(-1), cut: "" });
    }
    next();
  }
  // Another model is wanted, or this one again from its start.
  const leave = (value) => {
    if (!run) return;
    const looked = (run.curve.length - 1) * every;
    if (run.key === keyOf(value) && value.step === looked) return;
    if (looked) earlier.push(run.curve);
    if (earlier.length > KEPT) earlier.shift();
    run = null;
  };
  state.draw(leave, next);
  const observer = new IntersectionObserver(([{ isIntersecting }]) => {
    visible = isIntersecting;
    next();
  });
  observer.observe(el);
  state.atEnd(() => {
    observer.disconnect();
    cancelAnimationFrame(waiting);
  });

  const own = ({ step }) => run !== null && step > 0; // it has looked at its run
  const mayCut = (value) => own(value) && !value.running && value.layers === 2;
  const turn = (letter) => {
    if (!mayCut(state.value)) return;
    const cut = cutOrMended(state.value.cut, letter);
    state.set({ cut, loss: run.lossWithout(cut) });
  };
  const picture = stage(
    state,
    "The loss, the attention maps, and the wires between the layers",
    (root, width, value) => {
      const draw = plot(root, width, data, even);
      const shown = own(value) ? value : { layers: 2, by: ", by PyTorch" };
      const { height, pose } = layersAndWires(root, width, 142, { ...data, ...shown }, turn);
      return {
        height,
        pose(value) {
          draw(own(value) ? run : null, earlier, value);
          pose(own(value) ? run.maps : finished, value.cut, mayCut(value));
        },
      };
    },
    { key: (value) => (own(value) ? value.layers : "PyTorch") },
  );

  const anew = (key) => ({ change: (option) => ({ ...opening, [key]: option }) });
  const two = [
    [2, "two"],
    [1, "one"],
  ];
  const train = button(
    state,
    "Train",
    ({ running, step }) => ({ ...(step === steps && opening), running: !running }),
    {
      class: "cl-main",
      draw: (node, { running, step }) => {
        const name = step === steps ? "Train again" : step ? "Go on" : "Train";
        node.textContent = running ? "Pause" : name;
      },
    },
  );
  const controls = element(
    "div",
    { class: "cl-controls" },
    choice(state, "layers", "layers", two, anew("layers")),
    choice(state, "rate", "learning rate", [0.002, 0.006, 0.02], anew("rate")),
    choice(state, "seed", "seed", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], anew("seed")),
    train,
    button(state, "Reset", () => opening),
  );
  const sentence = (value) => {
    if (value.running)
      return `Your browser trains ${value.layers === 2 ? "two layers" : "one layer"}.`;
    if (!own(value)) return "A finished run of two layers. Press Train for one of your own.";
    if (value.cut) {
      const cut = [...value.cut].map((letter) => WIRES[letter]).join(" and ");
      return `Cut: ${cut}. The loss is ${format(value.loss)} nats, ${value.loss > even ? "worse" : "better"} than an even guess.`;
    }
    const after = `${value.step < steps ? "Paused after" : "After"} ${value.step} steps the loss is ${format(value.loss)} nats.`;
    return value.layers === 2 ? `${after} Click a wire to cut it.` : after;
  };
  const say = announce(state, sentence);
  const copies = () => run.curve.at(-1) < 1;
  const puzzles = goals(state, [
    {
      text: "Train a model until its loss is below 1 nat.",
      reached: (value) => own(value) && copies(),
    },
    {
      text: "Find the model that does not learn to copy, and train it to the last step.",
      reached: ({ step, layers, loss }) => step === steps && layers === 1 && loss > 2,
    },
    {
      text: "In your own model, cut the one wire that destroys the copying.",
      reached: (value) => own(value) && copies() && value.cut.length === 1 && value.loss > even,
    },
  ]);
  frame(el, "Train a Transformer, here", controls, picture, say, puzzles);
  return state.close;
}

export default { render };
