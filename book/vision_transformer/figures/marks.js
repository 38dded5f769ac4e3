// Two marks that can be dragged over the grid of patches, and what a trained ViT says of them.

import { choice, connect, remember, toggle } from "../../page/kit/controls.js";
import { announce, css, drawing, element, fill, format, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { clamp, softmax } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";
import { draggable, label, part, stage } from "../../page/kit/stage.js";
import { answerList } from "../../page/kit/tables.js";
import { classifyImage } from "../../page/kit/vit.js";

css`
  .cl-cut {
    fill: none;
    stroke: var(--first);
    stroke-width: 1.2;
  }
  .cl-held {
    fill: none;
    stroke: var(--second);
    stroke-width: 3;
  }
  .cl-frame-of-mark {
    fill: none;
    stroke: var(--first);
    stroke-width: 2;
    stroke-dasharray: 4 3;
  }
  .cl-badge {
    paint-order: stroke;
    stroke: var(--ground);
    stroke-width: 5;
  }
`;

const SIDE = 4; // pixels along the side of a mark
const NAMES = ["A", "B"];

/** The two marks of a state, as rows of pixels: B is a copy of A where they are to be the same. */
const chosen = ({ marks }, { pair, same }) => [marks[pair][0], marks[pair][same ? 0 : 1]];

/** The image: the background, and the marks on it. */
function painted(data, value) {
  const pixels = data.background.slice();
  chosen(data, value).forEach((mark, which) => {
    const [row, column] = value.corners[which];
    mark.forEach((pixel, i) => {
      const at = (row + Math.floor(i / SIDE)) * data.image_size + column + (i % SIDE);
      pixels[at] = pixel;
    });
  });
  return pixels;
}

/** How many pixels of a mark each patch holds: [[patch, pixels], ...], in the order of the patches. */
function pieces({ image_size: size, patch_size: side }, [row, column]) {
  const found = new Map();
  for (let i = 0; i < SIDE * SIDE; i++) {
    const r = Math.floor((row + Math.floor(i / SIDE)) / side),
      c = Math.floor((column + (i % SIDE)) / side);
    const patch = r * (size / side) + c;
    found.set(patch, (found.get(patch) ?? 0) + 1);
  }
  return [...found].sort((p, q) => p[0] - q[0]);
}

function render({ model, el }) {
  const data = withWeights(model.get("data"));
  const { image_size: size, patch_size: side, marks } = data;
  const state = connect(model);
  const result = remember(({ pair, same, corners }) => {
    const pixels = painted(data, { pair, same, corners });
    return { pixels, probabilities: softmax(classifyImage(data, pixels).logits) };
  });
  const setOf = ({ pair, same, corners }) => result({ pair, same, corners });

  const scene = stage(state, "The image, its patches and the two marks", (root, width) => {
    const cell = Math.min(17, Math.floor((width - 2) / size));
    const dots = Array.from({ length: size * size }, (_, i) =>
      drawing("rect", {
        x: 1 + (i % size) * cell,
        y: 1 + Math.floor(i / size) * cell,
        width: cell,
        height: cell,
        "data-name": "pixel",
      }),
    );
    const cuts = Array.from({ length: size / side + 1 }, (_, i) => 1 + i * side * cell).map((at) =>
      drawing("path", { class: "cl-cut", d: `M${at} 1v${size * cell}M1 ${at}h${size * cell}` }),
    );
    const held = Array.from({ length: (size / side) ** 2 }, (_, patch) =>
      drawing("rect", {
        class: "cl-held",
        x: 3 + (patch % (size / side)) * side * cell,
        y: 3 + Math.floor(patch / (size / side)) * side * cell,
        width: side * cell - 4,
        height: side * cell - 4,
      }),
    );
    root.append(...dots, ...cuts, ...held);
    const move = (which, row, column) => {
      const corner = [row, column].map((place) => clamp(Math.round(place), 0, size - SIDE));
      const corners = state.value.corners.map((old, i) => (i === which ? corner : old));
      const [a, b] = corners;
      const apart = Math.max(Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1]));
      if (apart > SIDE) state.set({ corners }); // at least a pixel between them, as in training
    };
    const handles = NAMES.map((name, which) => {
      const box = { width: SIDE * cell + 2, height: SIDE * cell + 2 };
      const frame = drawing(
        "g",
        {},
        drawing("rect", { class: "cl-hit", ...box }),
        drawing("rect", { class: "cl-frame-of-mark cl-knob", ...box }),
        label(name, box.width / 2, box.height / 2 + 6, "cl-strong cl-badge"),
      );
      const drag = draggable(root, frame, {
        name: `mark ${name}`,
        move: (x, y) => move(which, y / cell - SIDE / 2, x / cell - SIDE / 2),
        nudge: (dx, dy) => {
          const [row, column] = state.value.corners[which];
          move(which, row - dy, column + dx);
        },
      });
      fill(frame, { "aria-valuemin": 1, "aria-valuemax": (size - SIDE + 1) ** 2 }, []);
      return { drag, ...part(root, frame) };
    });
    const pose = (value, { jump }) => {
      setOf(value).pixels.forEach((pixel, i) => {
        const ink = Math.round(clamp(50 + 50 * pixel, 0, 100));
        dots[i].style.fill = `color-mix(in oklab, var(--ink) ${ink}%, var(--ground))`;
        dots[i].dataset.value = String(pixel);
      });
      const full = new Set(value.corners.flatMap((corner) => pieces(data, corner).map(([p]) => p)));
      held.forEach((node, patch) => {
        node.style.opacity = full.has(patch) ? 1 : 0;
      });
      handles.forEach((handle, which) => {
        const [row, column] = value.corners[which];
        handle.to({ x: column * cell, y: row * cell }, { jump, ms: 90 });
        handle.drag.say(
          `row ${row + 1}, column ${column + 1}`,
          row * (size - SIDE + 1) + column + 1,
        );
      });
    };
    return { height: size * cell + 2, pose };
  });

  const answers = answerList(
    state,
    "answers",
    (value) => {
      const [different, same] = setOf(value).probabilities;
      return [
        ["the same", same],
        ["different", different],
      ];
    },
    2,
  );
  const list = element("ul", { class: "cl-plain", "data-name": "pieces" });
  state.draw(({ corners }) =>
    list.replaceChildren(
      ...corners.map((corner, which) => {
        const found = pieces(data, corner);
        const where = found.map(([patch, pixels]) => `${patch + 1} (${pixels})`).join(", ");
        const noun = found.length === 1 ? "patch" : "patches";
        return element("li", {}, `mark ${NAMES[which]}: ${noun} ${where}`);
      }),
    ),
  );
  const say = announce(state, (value) => {
    const [different, same] = setOf(value).probabilities;
    const verdict = same > different ? "the same" : "different";
    const counts = value.corners.map((corner) => pieces(data, corner).length);
    const right = same > different === value.same;
    return (
      `Mark A is in ${counts[0]} of ${(size / side) ** 2} patches, mark B in ${counts[1]}. ` +
      `The model says “${verdict}” (${format(Math.max(same, different))}): ${right ? "right" : "wrong"}.`
    );
  });
  const offsets = ({ corners }) => corners.map(([row, column]) => [row % side, column % side]);
  const wrongly = (value) => value.same && setOf(value).probabilities[1] < 0.5;
  frame(
    el,
    "Two marks on the grid of patches",
    element(
      "div",
      { class: "cl-controls" },
      choice(
        state,
        "pair",
        "marks",
        marks.map((_, i) => [i, `pair ${i + 1}`]),
      ),
      toggle(state, "same", "B is a copy of A"),
    ),
    element(
      "div",
      { class: "cl-side" },
      element("div", { style: "flex: 1 1 17rem; max-width: 20rem" }, scene),
      element(
        "div",
        { style: "flex: 1 1 13rem" },
        element("p", { style: "margin: 0 0 .3rem" }, "The model: the marks are"),
        answers,
        element("p", {}, "Patches that hold a mark, and how many of its 16 pixels:"),
        list,
      ),
    ),
    say,
    goals(state, [
      {
        text: "Cut mark B into four: drag it to where four patches hold a piece of it.",
        reached: ({ corners }) => pieces(data, corners[1]).length === 4,
      },
      {
        text: "Let B be a copy of A, and make the model say “different”.",
        reached: wrongly,
      },
      {
        text: "Cut both marks at the same place, into equal pieces. Does it help?",
        reached: (value) => {
          const [a, b] = offsets(value);
          return value.same && a[0] + a[1] > 0 && a[0] === b[0] && a[1] === b[1];
        },
      },
    ]),
  );
  return state.close;
}

export default { render };
