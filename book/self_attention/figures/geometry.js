// Attention in the plane: the query is dragged among the keys, the output moves inside the hull of the values.

import { connect, remember, slider } from "../../page/kit/controls.js";
import { announce, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax, descending, dot, matmul, norm, softmax } from "../../page/kit/numerics.js";
import { arrow } from "../../page/kit/parts.js";
import { draggable, label, part, stage } from "../../page/kit/stage.js";

const LONGEST = 3; // a query
const HALO = { stroke: "var(--ground)", "stroke-width": 3, "paint-order": "stroke" }; // around names

/** The corners of the smallest convex shape around the points, in order. */
function hullOf(points) {
  const side = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  const half = (sorted) => {
    const corners = [];
    for (const point of sorted) {
      while (corners.length > 1 && side(corners.at(-2), corners.at(-1), point) <= 0) corners.pop();
      corners.push(point);
    }
    return corners.slice(0, -1);
  };
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return [...half(sorted), ...half([...sorted].reverse())];
}

/** A plane at (x, y): returns where a point of it is drawn, and with `back` the point drawn there. */
function plane(root, x, y, width, height, reach) {
  const [ox, oy] = [x + width / 2, y + height / 2],
    scale = Math.min(width / reach[0], height / reach[1]) / 2;
  const faint = "color-mix(in oklab, var(--ink) 5%, var(--ground))";
  root.append(
    drawing("rect", { x, y, width, height, rx: 8, style: `fill: ${faint}` }),
    drawing("path", { d: `M${x} ${oy}h${width}M${ox} ${y}v${height}`, stroke: "var(--line)" }),
  );
  const place = ([px, py]) => [ox + px * scale, oy - py * scale];
  place.back = (px, py) => [(px - ox) / scale, (oy - py) / scale];
  return place;
}

function render({ model, el }) {
  const { tokens, key, value: values } = model.get("data");
  const state = connect(model);
  const attend = remember(({ x, y, temperature }) => {
    const weights = softmax(key.map((k) => dot([x, y], k) / Math.sqrt(2) / temperature));
    return { weights, output: matmul([weights], values)[0] };
  });
  const ring = [0, 1].map((axis) => (values[0][axis] + values[1][axis]) / 2);
  const quoted = tokens.map((token) => `“${token}”`);

  const turn = (x, y) => {
    const short = Math.min(1, LONGEST / (Math.hypot(x, y) || 1));
    const [a, b] = [x, y].map((number) => Math.round(100 * short * number) / 100);
    state.set({ x: a, y: b });
  };

  function build(root, width) {
    const wide = width >= 520,
      left = wide ? Math.round(0.49 * width) : width,
      tall = wide ? left : 264,
      gutter = wide ? left + 28 : 0,
      below = 24 + tall + 30;
    const barsWidth = wide ? width - gutter : Math.round(0.46 * width),
      barsTop = wide ? 24 : below + 4,
      pitch = wide ? 26 : 34;
    const valuesLeft = wide ? gutter : barsWidth + 18,
      valuesTop = wide ? 24 + tokens.length * pitch + 26 : below + 4,
      valuesTall = wide ? 24 + tall - valuesTop : 4 * 34;
    const title = (text, x, y) => root.append(label(text, x, y, "cl-start cl-quiet"));
    title("keys, and the query: drag it", 0, 14);
    title("attention weights", gutter, barsTop - 10);
    title("values, and the output ◆", valuesLeft, valuesTop - 10);
    const onKeys = plane(root, 0, 24, left, tall, [LONGEST + 0.3, wide ? LONGEST + 0.3 : 2.9]);
    const onValues = plane(root, valuesLeft, valuesTop, width - valuesLeft, valuesTall, [2.5, 1.8]);

    // keys, and how far each reaches along the query
    const reach = drawing("line", { class: "cl-shaft", "stroke-opacity": 0.5 });
    root.append(drawing("g", { class: "cl-q" }, reach));
    const drops = key.map(() =>
      drawing("line", { stroke: "var(--quiet)", "stroke-dasharray": "3 3" }),
    );
    root.append(...drops);
    const [ox, oy] = onKeys([0, 0]);
    const keys = key.map((k, i) => {
      const [x2, y2] = onKeys(k),
        away = 16 / norm(k);
      const name = label(tokens[i], x2 + 1.5 * away * k[0], y2 - away * k[1] + 4, "cl-own");
      root.append(drawing("g", { class: "cl-k", ...HALO }, name));
      return arrow(root, "k", { x1: ox, y1: oy, x2, y2 });
    });
    const ray = arrow(root, "q", { x1: ox, y1: oy, w: 3.5 }, { head: false });
    const handle = drawing(
      "g",
      {},
      drawing("circle", { class: "cl-hit", r: 24 }),
      drawing("circle", { class: "cl-knob cl-tip", r: 11 }),
      drawing("g", HALO, label("Q", 0, -17, "cl-own cl-strong")),
    );
    const grip = part(root, drawing("g", { class: "cl-q" }, handle));
    const spoken = draggable(root, handle, {
      name: "query, moved with the arrow keys",
      move: (x, y) => turn(...onKeys.back(x, y)),
      nudge: (dx, dy) => turn(state.value.x + 0.1 * dx, state.value.y + 0.1 * dy),
    });

    // weights as bars
    const start = gutter + 52,
      full = barsWidth - 52 - 38;
    const bars = tokens.map((token, i) => {
      const y = barsTop + 4 + i * pitch;
      const bar = drawing("rect", { class: "cl-tint", x: start, y, height: 14, rx: 2 });
      const number = label("", gutter + barsWidth, y + 11.5, "cl-end");
      number.dataset.name = "weight";
      root.append(label(token, gutter, y + 11.5, "cl-start"));
      root.append(drawing("g", { class: "cl-attention" }, bar), number);
      return { bar, number };
    });

    // values, their hull, and the output in it
    const points = hullOf(values).map(onValues).join(" ");
    const hull = drawing("polygon", { class: "cl-tip", points, "fill-opacity": 0.15 });
    root.append(drawing("g", { class: "cl-v" }, hull));
    const [rx, ry] = onValues(ring);
    const dashed = { fill: "none", stroke: "var(--ink)", "stroke-dasharray": "3 3" };
    root.append(drawing("circle", { cx: rx, cy: ry, r: 8, ...dashed }));
    const strings = values.map(() => arrow(root, "attention", {}, { head: false }));
    values.forEach((point, i) => {
      const [x, y] = onValues(point);
      const dot = drawing("circle", { class: "cl-tip", cx: x, cy: y, r: 4.5 });
      const name = label(tokens[i], x, y + (point[1] > 0.5 ? -9 : 18), "cl-own");
      root.append(drawing("g", { class: "cl-v", ...HALO }, dot, name));
    });
    const diamond = { d: "M0-8L8 0 0 8-8 0Z", fill: "var(--ink)", stroke: "var(--ground)" };
    const output = part(root, drawing("path", { ...diamond, "stroke-width": 2 }));

    const pose = ({ x, y, temperature }) => {
      const { weights, output: found } = attend({ x, y, temperature }),
        jump = { jump: true }, // everything follows the hand
        length = Math.hypot(x, y) || 1,
        along = [(LONGEST * x) / length, (LONGEST * y) / length];
      const [qx, qy] = onKeys([x, y]),
        [px, py] = onValues(found);
      const [x1, y1] = onKeys(along.map((number) => -number)),
        [x2, y2] = onKeys(along);
      fill(reach, { x1, y1, x2, y2 }, []);
      ray.to({ x2: qx, y2: qy }, jump);
      grip.to({ x: qx, y: qy }, jump);
      output.to({ x: px, y: py }, jump);
      key.forEach((k, i) => {
        const far = dot([x, y], k) / length ** 2,
          [fx, fy] = onKeys([far * x, far * y]),
          [kx, ky] = onKeys(k),
          [vx, vy] = onValues(values[i]);
        fill(drops[i], { x1: kx, y1: ky, x2: fx, y2: fy }, []);
        keys[i].to({ w: 1.5 + 7 * weights[i] }, jump);
        strings[i].to({ x1: px, y1: py, x2: vx, y2: vy, w: 9 * weights[i] }, jump);
        bars[i].bar.setAttribute("width", full * weights[i]);
        write(bars[i].number, weights[i]);
      });
      const most = argmax(weights);
      spoken.say(`${format(x, 1)}, ${format(y, 1)}; ${tokens[most]} ${format(weights[most])}`, x);
    };
    return { height: wide ? 24 + tall + 2 : valuesTop + valuesTall + 2, pose };
  }

  const temperature = slider(state, "temperature", "temperature", {
    min: 0.1,
    max: 4,
    step: 0.1,
    describe: (number) => format(number, 1),
  });
  const where = element("span", { class: "cl-quiet" });
  state.draw((value) => {
    const pair = (name, numbers) =>
      numbers.map((number) => fill(write(element("span"), number), { "data-name": name }, []));
    const [x, y] = pair("query", [value.x, value.y]),
      [a, b] = pair("output", attend(value).output);
    const line = (...parts) => element("span", { style: "display: block" }, parts);
    where.replaceChildren(line("query (", x, ", ", y, ")"), line("output (", a, ", ", b, ")"));
  });
  const even =
    "A query of length 0 asks nothing: equal shares, and the output is the mean of the values.";
  const tell = (value) => {
    const { weights } = attend(value),
      [first, second] = descending(weights);
    if (Math.hypot(value.x, value.y) < 0.15) return even;
    return `${quoted[first]} gets ${format(weights[first])}, ${quoted[second]} ${format(weights[second])}.`;
  };
  const say = announce(state, tell, [even]);
  const puzzles = goals(state, [
    {
      text: `Give ${quoted[1]} more than .9.`,
      reached: (value) => attend(value).weights[1] > 0.9,
    },
    {
      text: `Put the output midway between ${quoted[0]} and ${quoted[1]}, into the ring.`,
      reached: (value) => norm(attend(value).output.map((number, i) => number - ring[i])) < 0.1,
    },
  ]);
  frame(
    el,
    "A query among keys",
    stage(state, "Keys and a query in a plane, values in another", build),
    element("div", { class: "cl-controls" }, temperature, where),
    say,
    puzzles,
  );
  return state.close;
}

export default { render };
