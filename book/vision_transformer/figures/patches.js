// A digit on its way through the chapter's ViT: cut, laid out, projected, given places, mixed, named.

import { choice, connect, slider } from "../../page/kit/controls.js";
import { css, drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { html } from "../../page/kit/html.js";
import { argmax, clamp } from "../../page/kit/numerics.js";
import { arrow } from "../../page/kit/parts.js";
import { group, label, part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";
import { cutIntoPatches } from "../../page/kit/vit.js";

css`
  .cl-piece {
    fill: none;
    stroke: var(--quiet);
    stroke-width: 1;
  }
  .cl-piece.cl-chosen {
    stroke: var(--second);
    stroke-width: 3;
  }
`;

const [IMAGE, CUT, ROW, PROJECT, PLACES, BLOCKS] = [0, 1, 2, 3, 4, 5];

const shown = (number) => format(number, 2);

/** What each step says. `data` as book.vision_transformer.patches_figure makes it. */
function steps(data) {
  const { examples, patch_size: side, image_size: size, heads, positions } = data;
  const across = size / side,
    count = across * across,
    width = positions[0].length;
  const of = ({ example }) => examples[example];
  const inside = (value) => cutIntoPatches(data, of(value).pixels)[value.patch - 1];
  const vector = (row) => `${row.slice(0, 3).map(shown).join(", ")}, …`;
  const blocks = of({ example: 0 }).looks.map((_, block) => ({
    name: `block ${block + 1}`,
    caption: (value) => {
      const look = of(value).looks[block];
      const most = argmax(look.slice(1)) + 1;
      return html`Block ${block + 1}. Every token attends to all ${count + 1}; drawn is what [CLS] takes, its <b class="cl-attention">weights</b> averaged over ${heads} heads: most from patch ${most} (${shown(look[most])}), and ${shown(look[0])} from itself. Then the feed-forward network. The strips are what leaves the block.`;
    },
  }));
  return [
    {
      name: "image",
      caption: (value) =>
        `A handwritten ${of(value).label}: ${size} × ${size} numbers, from 0 for paper to 1 for ink. ` +
        "How does it become a sequence that a Transformer can read?",
    },
    {
      name: "cut",
      caption: (value) =>
        `Cut into ${count} patches of ${side} × ${side} pixels, numbered row by row. Patch ` +
        `${value.patch} holds ${inside(value).map(shown).join(", ")}.`,
    },
    {
      name: "row",
      caption: ({ patch }) => {
        const below = patch + across <= count ? patch + across : patch - across;
        return (
          `One after the other: the image is a sentence of ${count} words. Patches ${patch} and ` +
          `${below} touched in the image. Here they are ${across} places apart.`
        );
      },
    },
    {
      name: "project",
      caption: (value) =>
        html`One matrix, the same for all, turns the ${side * side} numbers of a patch into ${width}: its <b class="cl-stream">token vector</b>. Patch ${value.patch} becomes (${vector(of(value).stages[0][value.patch])}).`,
    },
    {
      name: "places",
      caption: (value) =>
        html`[CLS] comes in front: a learned vector, the same for every image. And every token gets the <b class="cl-position">vector of its place</b>, learned as well: patch ${value.patch} now has (${vector(of(value).stages[1][value.patch])}).`,
    },
    ...blocks,
    {
      name: "head",
      caption: (value) => {
        const { probabilities, label } = of(value);
        const best = argmax(probabilities);
        return (
          `Only [CLS] is read: normalised, times a matrix, softmax. The model says ${best} with ` +
          `probability ${shown(probabilities[best])}. ${best === label ? "Right." : `It is a ${label}.`}`
        );
      },
    },
  ];
}

/** A vector as a column of cells without text: a part with set(values). */
function column(parent, values, kind, { width, cell, name, most }) {
  const cells = values.map((_, i) =>
    drawing("rect", { class: "cl-tint", y: i * cell, width, height: cell, "data-name": name }),
  );
  const box = { width, height: values.length * cell };
  const node = drawing(
    "g",
    { class: `cl-${kind}` },
    drawing("rect", { class: "cl-paper", ...box }),
    cells,
    drawing("rect", { class: "cl-edge", ...box }),
  );
  const set = (values) =>
    values.forEach((value, i) => {
      cells[i].dataset.value = String(value);
      cells[i].style.opacity = clamp(Math.abs(value) / most, 0, 1);
    });
  set(values);
  return { ...part(parent, node, { o: 0 }), set };
}

function build(root, width, data) {
  const { examples, positions, patch_size: side, image_size: size } = data;
  const across = size / side,
    count = across * across,
    tokens = count + 1,
    head = BLOCKS + examples[0].looks.length;
  const pitch = Math.min(38, Math.floor((width - 4) / tokens)),
    left = (width - pitch * tokens) / 2;
  const middle = (token) => left + pitch * (token + 0.5);
  const small = Math.floor((pitch - 4) / side), // a pixel of a patch in the row
    large = Math.min(20, Math.floor((width - 60) / size)); // and in the image
  const rowY = 22,
    stripY = rowY + side * small + 8,
    cell = 1.5,
    stripHeight = positions[0].length * cell,
    foot = stripY + stripHeight,
    height = foot + 98;
  const strip = { width: Math.max(6, pitch - 6) };

  const patches = Array.from({ length: count }, (_, i) => {
    const pixels = Array.from({ length: side * side }, () =>
      drawing("rect", { "data-name": "pixel" }),
    );
    const edge = drawing("rect", { class: "cl-piece" });
    const number = label(String(i + 1), 0, 0, "cl-quiet cl-tiny");
    const node = drawing("g", {}, pixels, edge, number);
    const draw = ({ s }) => {
      pixels.forEach((rect, at) => {
        const place = { x: (at % side) * s, y: Math.floor(at / side) * s };
        fill(rect, { ...place, width: s, height: s }, []);
      });
      fill(edge, { width: side * s, height: side * s }, []);
      fill(number, { x: (side * s) / 2, y: -4 }, []);
    };
    return { pixels, edge, number, ...part(root, node, { s: large }, draw) };
  });
  const cls = group(
    root,
    { o: 0 },
    label(pitch < 24 ? "CLS" : "[CLS]", middle(0), rowY + side * small - 2, "cl-tiny"),
  );
  const start = examples[0].stages[0];
  const strips = start.map((row) =>
    column(root, row, "stream", { ...strip, cell, name: "token", most: 2 }),
  );
  const places = positions.map((row) =>
    column(root, row, "position", { ...strip, cell: 1, name: "place", most: 1 }),
  );
  const catchY = foot + 74;
  const looks = start.map((_, token) => {
    const from = { x1: middle(token), y1: foot + 3, x2: middle(0), y2: catchY, w: 0, o: 0 };
    return arrow(root, "attention", from, { bend: true, head: false });
  });
  const caught = group(
    root,
    { o: 0 },
    label("[CLS] takes", middle(0) - 8, catchY + 16, "cl-start"),
  );
  const classes = examples[0].probabilities.length;
  const room = Math.min(46, (width - 8) / classes);
  const bars = Array.from({ length: classes }, (_, digit) => {
    const bar = drawing("rect", { class: "cl-bar-of-answer", width: room - 10 });
    const number = label("", room / 2 - 5, 0, "cl-tiny");
    number.dataset.name = "probability";
    const name = label(String(digit), room / 2 - 5, 92, "cl-strong");
    const draw = ({ p }) => {
      fill(bar, { y: 74 - 56 * p, height: 2 + 56 * p }, []);
      number.setAttribute("y", 70 - 56 * p);
    };
    const x = (width - room * classes) / 2 + digit * room + 5;
    return {
      number,
      ...part(root, drawing("g", {}, bar, number, name), { x, y: foot + 2, p: 0, o: 0 }, draw),
    };
  });

  function pose({ step, example, patch }, { jump }) {
    const now = examples[example];
    const go = (thing, goal, delay = 0) => thing.to(goal, { jump, delay });
    const seen = (first, last = head) => (step >= first && step <= last ? 1 : 0);
    const cut = cutIntoPatches(data, now.pixels);
    const apart = step === CUT ? 16 : 0;
    const whole = side * large * across + apart * (across - 1);
    patches.forEach((piece, i) => {
      piece.pixels.forEach((rect, at) => {
        rect.dataset.value = String(cut[i][at]);
        rect.style.fill = `color-mix(in oklab, var(--ink) ${100 * cut[i][at]}%, var(--ground))`;
      });
      piece.edge.classList.toggle("cl-chosen", step >= CUT && i === patch - 1);
      piece.edge.style.opacity = step === IMAGE ? 0 : 1;
      piece.number.style.opacity = step === IMAGE ? 0 : 1;
      const x = (width - whole) / 2 + (i % across) * (side * large + apart),
        y = 20 + Math.floor(i / across) * (side * large + apart);
      const there = { x: middle(i + 1) - (side * small) / 2, y: rowY, s: small };
      go(piece, step < ROW ? { x, y, s: large } : there, step === ROW ? 40 * i : 0);
      go(piece, { o: step === head ? 0.25 : 1 });
    });
    const stage = clamp(step - PROJECT, 0, now.stages.length - 1);
    strips.forEach((column, token) => {
      column.set(now.stages[stage][token]);
      const o = token === 0 ? seen(PLACES) : seen(PROJECT) * (step === head ? 0.2 : 1);
      go(
        column,
        { x: middle(token) - strip.width / 2, y: stripY, o },
        step === PROJECT ? 40 * token : 0,
      );
    });
    places.forEach((column, token) =>
      go(column, {
        x: middle(token) - strip.width / 2,
        y: foot + (step < PLACES ? 40 : 10),
        o: seen(PLACES, PLACES),
      }),
    );
    go(cls, { o: seen(PLACES) });
    const block = step - BLOCKS,
      look = now.looks[clamp(block, 0, now.looks.length - 1)];
    const attending = seen(BLOCKS, head - 1);
    looks.forEach((line, token) => {
      line.node.dataset.value = String(look[token]);
      go(line, { w: 26 * look[token], o: attending });
    });
    go(caught, { o: attending });
    bars.forEach((bar, digit) => {
      write(bar.number, now.probabilities[digit]);
      go(bar, { p: step === head ? now.probabilities[digit] : 0, o: seen(head) });
    });
  }
  return { height, pose };
}

function render({ model, el }) {
  const data = model.get("data");
  const state = connect(model);
  const { examples } = data;
  const count = (data.image_size / data.patch_size) ** 2,
    head = BLOCKS + examples[0].looks.length;
  const isPaper = ({ example, patch }) =>
    cutIntoPatches(data, examples[example].pixels)[patch - 1].every((pixel) => pixel === 0);
  const every = examples.flatMap((_, example) =>
    Array.from({ length: count }, (_, i) => ({ example, patch: i + 1 })),
  );
  const largest = (looks) => Math.max(...looks.map((look) => Math.max(...look.slice(1))));
  const most = Math.max(...examples.map(({ looks }) => largest(looks)));
  const puzzles = [
    every.some(isPaper) && {
      text: "Follow a patch that is paper alone as far as its vector. Is that zero as well?",
      reached: (value) => value.step >= PROJECT && isPaper(value),
    },
    {
      text: "Find the image and the block in which [CLS] takes most from a single patch.",
      reached: ({ step, example }) =>
        step >= BLOCKS && step < head && largest([examples[example].looks[step - BLOCKS]]) === most,
    },
  ].filter(Boolean);
  frame(
    el,
    "An image on its way through the Vision Transformer",
    element(
      "div",
      { class: "cl-controls" },
      choice(
        state,
        "example",
        "image",
        examples.map(({ label }, i) => [i, `a handwritten ${label}`]),
      ),
      slider(state, "patch", "follow patch", { min: 1, max: count }),
    ),
    stage(state, "The image, its patches and their vectors", (root, width) =>
      build(root, width, data),
    ),
    stepper(state, { steps: steps(data), pace: 4200 }),
    goals(state, puzzles),
  );
  return state.close;
}

export default { render };
