// The chapter's ViT, reading a drawing: the pixels, the patches, the answer, and where it looks.

import { button, choice, connect, remember } from "../../page/kit/controls.js";
import {
  announce,
  drawing,
  element,
  fill,
  format,
  frame,
  paint,
  write,
} from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax, clamp, descending, matmul, meanOf, softmax } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";
import { answerList } from "../../page/kit/tables.js";
import { classifyImage } from "../../page/kit/vit.js";

const CELL = 24; // pixels of the page along the side of a pixel of the drawing
const SOFT = 0.4; // ink that the soft pen leaves on the four neighbours

/** The logits of a drawing, and what the class token gives to every patch: by head, and rolled out. */
function look(data, pixels) {
  const { blocks, logits } = classifyImage(
    data,
    pixels.map((ink) => ink / data.levels),
  );
  const tokens = blocks[0].output;
  let rolled = tokens.map((_, i) => tokens.map((_, j) => Number(i === j)));
  const heads = {};
  blocks.forEach((block, layer) => {
    block.weights.forEach((head, h) => {
      heads[`${layer}.${h}`] = head[0].slice(1);
    });
    const kept = meanOf(block.weights).map((row, i) =>
      row.map((w, j) => (w + Number(i === j)) / 2),
    );
    rolled = matmul(kept, rolled);
  });
  return { logits, shares: { rollout: rolled[0].slice(1), ...heads } };
}

/** The drawing after the brush has touched a pixel. */
function touched(pixels, row, column, brush, { image_size: size, levels }) {
  const after = pixels.slice();
  const ink = (r, c, amount) => {
    if (r < 0 || c < 0 || r >= size || c >= size) return;
    after[r * size + c] = amount === 0 ? 0 : Math.max(after[r * size + c], amount);
  };
  ink(row, column, brush === "eraser" ? 0 : levels);
  if (brush === "soft") {
    const amount = Math.round(SOFT * levels);
    for (const [r, c] of [
      [-1, 0],
      [1, 0],
      [0, -1],
      [0, 1],
    ])
      ink(row + r, column + c, amount);
  }
  return after;
}

/** The drawing, moved; what leaves it is lost. */
function movedBy(pixels, down, right, size) {
  return pixels.map((_, i) => {
    const row = Math.floor(i / size) - down,
      column = (i % size) - right;
    return row >= 0 && column >= 0 && row < size && column < size ? pixels[row * size + column] : 0;
  });
}

const warmth = (share) =>
  `fill: color-mix(in oklab, var(--attention) calc(${share} * var(--hottest)), var(--ground))`;
const shade = (share, of) => `color-mix(in oklab, var(--${of}) ${100 * share}%, var(--ground))`;

function render({ model, el }) {
  const data = withWeights(model.get("data"));
  const { image_size: size, patch_size: side, levels, examples } = data;
  const across = size / side;
  const state = connect(model);
  const result = remember(({ pixels }) => {
    const found = look(data, pixels);
    return { ...found, probabilities: softmax(found.logits) };
  });

  // The drawing: a pointer paints; arrow keys move a frame, and the space bar paints inside it.
  const paper = drawing("svg", {
    role: "application",
    tabindex: 0,
    "data-name": "paper",
    "aria-roledescription": "drawing",
    style: "touch-action: none; cursor: crosshair",
    viewBox: `0 0 ${size * CELL} ${size * CELL}`,
    width: size * CELL,
    height: size * CELL,
  });
  const cells = Array.from({ length: size * size }, (_, i) =>
    drawing("rect", {
      x: (i % size) * CELL,
      y: Math.floor(i / size) * CELL,
      width: CELL,
      height: CELL,
      stroke: "var(--line)",
      "stroke-width": 0.5,
    }),
  );
  const borders = Array.from({ length: across + 1 }, (_, i) => i * side * CELL).flatMap((at) => [
    drawing("line", { x1: at, x2: at, y1: 0, y2: size * CELL, stroke: "var(--quiet)" }),
    drawing("line", { y1: at, y2: at, x1: 0, x2: size * CELL, stroke: "var(--quiet)" }),
  ]);
  const cursor = drawing("rect", {
    width: CELL - 4,
    height: CELL - 4,
    fill: "none",
    stroke: "var(--second)",
    "stroke-width": 2.5,
  });
  paper.append(...cells, ...borders, cursor);
  state.draw(({ pixels, row, column }) => {
    cells.forEach((cell, i) => {
      cell.setAttribute("fill", shade(pixels[i] / levels, "ink"));
      cell.dataset.value = String(pixels[i]);
    });
    fill(cursor, { x: column * CELL + 2, y: row * CELL + 2 }, []);
    const inside = pixels[row * size + column];
    paper.setAttribute(
      "aria-label",
      `Drawing of ${size} by ${size} pixels. Arrow keys choose a pixel, space paints it. ` +
        `Row ${row + 1}, column ${column + 1}: ink ${inside} of ${levels}.`,
    );
  });
  const paintAt = (row, column) => {
    const { pixels, brush } = state.value;
    const after = touched(pixels, row, column, brush, data);
    state.set({ pixels: after, example: "own", row, column });
  };
  const under = (event) => {
    const box = paper.getBoundingClientRect();
    const at = (part, whole) => clamp(Math.floor((part / whole) * size), 0, size - 1);
    return [at(event.clientY - box.top, box.height), at(event.clientX - box.left, box.width)];
  };
  paper.addEventListener("pointerdown", (event) => {
    paper.setPointerCapture(event.pointerId);
    paintAt(...under(event));
  });
  paper.addEventListener("pointermove", (event) => {
    const [row, column] = under(event);
    const same = row === state.value.row && column === state.value.column;
    if (event.buttons && !same) paintAt(row, column);
  });
  const ways = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  paper.addEventListener("keydown", (event) => {
    const { row, column } = state.value;
    if (event.key === " ") paintAt(row, column);
    else if (ways[event.key]) {
      const [down, right] = ways[event.key];
      const inside = (place) => clamp(place, 0, size - 1);
      state.set({ row: inside(row + down), column: inside(column + right) });
    } else return;
    event.preventDefault();
  });
  paper.dataset.lmSuppressShortcuts = true;

  const viewName = (view) =>
    view === "rollout"
      ? "rollout"
      : `block ${Number(view.split(".")[0]) + 1}, head ${Number(view.split(".")[1]) + 1}`;
  const views = Object.keys(look(data, examples[0].pixels).shares);
  const change = (name, text, label, act) =>
    button(state, text, ({ pixels }) => ({ pixels: act(pixels), example: "own" }), {
      name,
      "aria-label": label,
    });
  const controls = element(
    "div",
    { class: "cl-controls" },
    choice(
      state,
      "example",
      "begin with",
      [...examples.map(({ label }, i) => [i, `a handwritten ${label}`]), ["own", "my own drawing"]],
      {
        change: (option) =>
          option === "own"
            ? { example: option }
            : {
                example: option,
                pixels: examples[option].pixels,
                origin: examples[option].label,
              },
      },
    ),
    choice(state, "brush", "brush", [
      ["soft", "soft pen"],
      ["hard", "hard pen"],
      ["eraser", "eraser"],
    ]),
    element(
      "div",
      { class: "cl-control" },
      "move it",
      element(
        "span",
        { style: "display: flex; gap: 0.2rem" },
        change("left", "left", "one pixel to the left", (p) => movedBy(p, 0, -1, size)),
        change("right", "right", "one pixel to the right", (p) => movedBy(p, 0, 1, size)),
        change("up", "up", "one pixel up", (p) => movedBy(p, -1, 0, size)),
        change("down", "down", "one pixel down", (p) => movedBy(p, 1, 0, size)),
      ),
    ),
    choice(
      state,
      "view",
      "where it looks",
      views.map((view) => [view, viewName(view)]),
    ),
    button(
      state,
      "Clear",
      ({ pixels }) => ({ pixels: pixels.map(() => 0), example: "own", origin: -1 }),
      { name: "clear" },
    ),
  );

  const answers = answerList(
    state,
    "answers",
    (value) => {
      const { probabilities, logits } = result(value);
      const best = argmax(probabilities);
      return probabilities.map((p, digit) => {
        const text = String(digit);
        const shown = element("span", {}, digit === best ? element("b", {}, text) : text);
        return [shown, p, { logit: String(logits[digit]) }];
      });
    },
    2,
  );

  // Where it looks, on the grid of patches.
  const map = drawing("svg");
  const square = side * CELL;
  state.draw((value) => {
    const shares = result(value).shares[value.view];
    const most = Math.max(...shares);
    const parts = shares.flatMap((share, i) => {
      const x = (i % across) * square,
        y = Math.floor(i / across) * square;
      const box = { x, y, width: square, height: square, stroke: "var(--quiet)" };
      const middle = { x: x + square / 2, y: y + square / 2 + 5, "text-anchor": "middle" };
      const text = drawing("text", { ...middle, "font-weight": share === most ? 700 : 400 });
      return [drawing("rect", { ...box, style: warmth(share / most) }), write(text, share)];
    });
    const title = `${viewName(value.view)}: what [CLS] gives to each patch of the grid`;
    paint(map, across * square, across * square, title, parts);
    map.dataset.name = "map";
  });
  const say = announce(state, (value) => {
    const { probabilities, shares } = result(value);
    const order = descending(probabilities);
    const row = shares[value.view];
    const ink = value.pixels.some((pixel) => pixel > 0);
    return (
      `${ink ? "" : "An empty image, and it answers all the same. "}` +
      `It reads a ${order[0]} (${format(probabilities[order[0]])}), then a ${order[1]} ` +
      `(${format(probabilities[order[1]])}). Most weight, by ${viewName(value.view)}: patch ` +
      `${argmax(row) + 1}.`
    );
  });
  const caption = (text) => element("p", { style: "margin: 0 0 0.3rem" }, text);
  frame(
    el,
    "The trained ViT, reading a drawing",
    controls,
    element(
      "div",
      { class: "cl-side" },
      element("div", {}, caption("draw here"), paper),
      element("div", {}, caption("what [CLS] looks at"), map),
      element("div", { style: "flex: 1 1 9rem" }, caption("its answer"), answers),
    ),
    say,
    goals(state, [
      {
        text: "Spoil an example: by moving it or rubbing something out, make the model read another digit.",
        reached: ({ origin, pixels }) =>
          origin >= 0 && argmax(result({ pixels }).logits) !== origin,
      },
      {
        text: "Clear the paper and draw something that the model takes for an 8 with a probability above 0.9.",
        reached: ({ origin, pixels }) => origin < 0 && result({ pixels }).probabilities[8] > 0.9,
      },
    ]),
  );
  return state.close;
}

export default { render };
