// A picture on its way from noise to a digit, and below it what a denoiser takes for the end. The denoiser is
// the chapter's DiT, or the best guess over training images; it paints again whenever the reader moves.

import { button, choice, connect, remember, slider } from "../../page/kit/controls.js";
import { announce, css, drawing, element, format, frame } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { feedForward, layerNorm, linear, multiHead } from "../../page/kit/networks.js";
import { argmax, clamp, dot, softmax } from "../../page/kit/numerics.js";
import { unpack } from "../../page/kit/packed.js";
import { sinusoid } from "../../page/kit/sinusoids.js";
import { label, stage } from "../../page/kit/stage.js";
import { cutIntoPatches } from "../../page/kit/vit.js";

css`
  .cl-tile rect {
    fill: var(--ink);
  }
  .cl-tile .cl-frame {
    fill: none;
    stroke: var(--line);
  }
  input[type="range"][name="between"] {
    width: min(28rem, 100%);
  }
  .cl-tile.cl-last .cl-frame {
    stroke: var(--first);
    stroke-width: 2.5;
  }
`;

const ANY = 10,
  SIDE = 8,
  MOST = 9, // pictures in a row
  LARGEST = 9; // pixels of the page for one of a picture

/** The weighted mean of the images, by how probable each is behind the picture. */
function bestGuess({ images, labels, levels }) {
  const rows = images.map((text) =>
    Array.from(text, (sign) => (2 * parseInt(sign, 17)) / levels - 1),
  );
  return (picture, t, digit) => {
    const known = digit === ANY ? rows : rows.filter((_, i) => labels[i] === digit);
    const scores = known.map((row) => {
      let distance = 0;
      for (let i = 0; i < row.length; i++) distance += (picture[i] - t * row[i]) ** 2;
      return -distance / (2 * (1 - t) ** 2);
    });
    const weights = softmax(scores);
    return picture.map((_, i) => weights.reduce((sum, weight, j) => sum + weight * known[j][i], 0));
  };
}

const silu = (row) => Array.from(row, (x) => x / (1 + Math.exp(-x)));

/** Numbers of a byte each, in equal steps: a row, or a matrix as an array of rows. */
function fromBytes({ shape, step, int8 }) {
  const bytes = Int8Array.from(atob(int8), (character) => character.charCodeAt(0));
  const numbers = Float64Array.from(bytes, (level) => level * step);
  if (shape.length === 1) return numbers;
  return Array.from({ length: shape[0] }, (_, i) =>
    numbers.subarray(i * shape[1], (i + 1) * shape[1]),
  );
}

/** The chapter's DiT: the clean image that it guesses. */
function transformer({ weights: packed, layers, heads }) {
  const weights = Object.fromEntries(
    Object.entries(packed).map(([name, bytes]) => [name, fromBytes(bytes)]),
  );
  const d = weights["norm.weight"].length;
  weights["plain.weight"] = new Float64Array(d).fill(1); // a norm that has learned nothing itself
  const one = (name, row) => linear(weights, name, [row])[0];
  const condition = (t, digit) => {
    const time = one("time.2", silu(one("time.0", sinusoid(Math.floor(1000 * t), d))));
    return silu(time.map((x, i) => x + weights["digit.weight"][digit][i]));
  };
  const modulated = (rows, scale, shift) =>
    layerNorm(weights, "plain", rows).map((row) =>
      row.map((x, i) => x * (1 + scale[i]) + shift[i]),
    );
  const gated = (rows, gate, added) =>
    rows.map((row, j) => Array.from(row, (x, i) => x + gate[i] * added[j][i]));
  return (picture, t, digit) => {
    const c = condition(t, digit);
    const patches = cutIntoPatches({ image_size: SIDE, patch_size: 2 }, picture);
    let h = gated(
      linear(weights, "patches.proj", patches),
      weights["plain.weight"],
      weights["positions.weight"],
    );
    for (let i = 0; i < layers; i++) {
      const name = `blocks.${i}`,
        all = one(`${name}.modulate`, c),
        part = (k) => all.slice(k * d, (k + 1) * d);
      const read = modulated(h, part(0), part(1));
      h = gated(h, part(2), multiHead(weights, `${name}.attention`, read, read, heads).output);
      const middle = modulated(h, part(3), part(4));
      h = gated(h, part(5), feedForward(weights, `${name}.feed_forward`, middle, "gelu_tanh"));
    }
    const written = linear(weights, "out", layerNorm(weights, "norm", h));
    return picture.map((_, at) => {
      const row = Math.floor(at / SIDE),
        column = at % SIDE;
      const patch = Math.floor(row / 2) * (SIDE / 2) + Math.floor(column / 2);
      return written[patch][(row % 2) * 2 + (column % 2)];
    });
  };
}

/** The pictures from noise to the end, and the guess at each but the last. */
function paintAll(guess, noises, { digit, steps, between, pair, w }) {
  const turn = (Math.PI / 2) * (between / 100);
  const [first, second] = [noises[pair], noises[(pair + 1) % noises.length]];
  const start = Array.from(first, (x, i) => Math.cos(turn) * x + Math.sin(turn) * second[i]);
  const pictures = [start],
    guesses = [];
  for (let k = 0; k < steps; k++) {
    const picture = pictures[k],
      t = k / steps;
    let aim = guess(picture, t, digit);
    if (w !== 1 && digit !== ANY) {
      const plain = guess(picture, t, ANY);
      aim = plain.map((x, i) => x + w * (aim[i] - x));
    }
    guesses.push(aim);
    pictures.push(picture.map((x, i) => x + (aim[i] - x) / (steps - k)));
  }
  return { pictures, guesses };
}

/** The moments that are shown: all, or every second one. */
const shownOf = (steps) =>
  Array.from({ length: Math.min(steps, 8) + 1 }, (_, i) => (steps > 8 ? 2 * i : i));

/** A picture of 8 x 8 pixels, with set(values) from -1 to 1. */
function tile(root, x, y, cell, name, last) {
  const pixels = Array.from({ length: SIDE * SIDE }, (_, i) =>
    drawing("rect", {
      x: (i % SIDE) * cell,
      y: Math.floor(i / SIDE) * cell,
      width: cell + 0.3,
      height: cell + 0.3,
    }),
  );
  const edge = drawing("rect", { class: "cl-frame", width: SIDE * cell, height: SIDE * cell });
  const look = { class: `cl-tile${last ? " cl-last" : ""}`, "data-name": name };
  root.append(drawing("g", { ...look, transform: `translate(${x} ${y})` }, pixels, edge));
  return (values) =>
    pixels.forEach((pixel, i) => {
      pixel.style.opacity = String(clamp((values[i] + 1) / 2, 0, 1));
      pixel.dataset.value = String(values[i]);
    });
}

function build(root, width, { steps }, result) {
  const moments = shownOf(steps),
    pitch = width / moments.length;
  const cell = Math.min(LARGEST, Math.floor((width / MOST - 4) / SIDE)),
    size = cell * SIDE,
    upper = 20,
    axis = upper + size + 16,
    lower = axis + 30,
    foot = lower + size + 16;
  const middle = (i) => pitch * (i + 0.5);
  const wide = width > 480;
  root.append(
    label("the picture, and how much noise is left", 0, 13, "cl-start"),
    label("the guess of its end, and the part of the way that is kept", 0, lower - 7, "cl-start"),
  );
  const small = wide ? "cl-quiet" : "cl-quiet cl-tiny";
  const pictures = moments.map((k, i) => {
    const noise = Math.round(100 * (1 - k / steps));
    root.append(label(wide ? `${noise} %` : String(noise), middle(i), axis, small));
    const last = k === steps;
    return tile(root, middle(i) - size / 2, upper, cell, last ? "end" : "picture", last);
  });
  const guesses = moments.slice(0, -1).map((k, i) => {
    const kept = steps - k === 1 ? "all" : `1/${steps - k}`;
    root.append(label(kept, middle(i), foot, small));
    return tile(root, middle(i) - size / 2, lower, cell, "guess", false);
  });
  const pose = (value) => {
    const found = result(value);
    moments.forEach((k, i) => {
      pictures[i](found.pictures[k]);
      if (k < steps) guesses[i](found.guesses[k]);
    });
  };
  return { height: foot + 8, pose };
}

function render({ model, el }) {
  const data = { ...model.get("data"), levels: 16 };
  const state = connect(model);
  const noises = unpack(data.noises),
    means = unpack(data.means);
  const trained = Boolean(data.weights);
  const guess = trained ? transformer(data) : bestGuess(data);
  const result = remember((value) => paintAll(guess, noises, value));
  const endOf = (value) => result(value).pictures.at(-1);
  const closest = (end) => argmax(means.map((mean) => 2 * dot(mean, end) - dot(mean, mean)));
  const apart = (a, b) => a.reduce((sum, x, i) => sum + Math.abs(x - b[i]), 0) / (2 * a.length);

  const tell = (value) => {
    const end = endOf(value),
      found = closest(end);
    const asked = value.digit === ANY ? "No digit in particular" : `A ${value.digit}`;
    const steps = value.steps === 1 ? "one step" : `${value.steps} steps`;
    return (
      `${asked} was asked for, in ${steps}. The picture at the end is closest to the mean ` +
      `${found}; a pixel is ${format(apart(end, means[found]))} from it on average, where 1 is from ` +
      "paper to ink."
    );
  };

  let before = null;
  const seen = new Map(); // pair of noises -> digits that it has led to
  const jumped = (value) => {
    const { between, ...rest } = value;
    const now = { between, rest: JSON.stringify(rest), end: endOf(value) };
    const found =
      before !== null &&
      before.rest === now.rest &&
      Math.abs(before.between - between) === 1 &&
      apart(before.end, now.end) > 0.05;
    before = now;
    return found;
  };
  const threeOf = (value) => {
    if (value.digit !== ANY || value.steps < 4) return false;
    const found = seen.get(value.pair) ?? new Set();
    seen.set(value.pair, found.add(closest(endOf(value))));
    return found.size >= 3;
  };
  const puzzles = trained
    ? [
        {
          text: "Ask for one digit and get another. (One setting of the guidance makes it easy.)",
          reached: (value) => value.digit !== ANY && closest(endOf(value)) !== value.digit,
        },
        {
          text: "Ask for any digit, in 4 steps or more, and find three different ones between the same two noises.",
          reached: threeOf,
        },
      ]
    : [
        { text: "Paint an average: allow one step.", reached: ({ steps }) => steps === 1 },
        {
          text: "Find a place where the smallest move of the slider (an arrow key) changes the picture into another.",
          reached: jumped,
        },
      ];

  const digits = Array.from({ length: 10 }, (_, i) => [i, String(i)]);
  frame(
    el,
    trained ? "The trained DiT, from noise to a digit" : "A painter without weights",
    drawingOf(state, result),
    slider(state, "between", "from one noise to another:", {
      min: 0,
      max: 100,
      describe: (number) => `${number} %`,
    }),
    controls(state, [...digits, [ANY, "any digit"]], noises.length, trained),
    announce(state, tell),
    goals(state, puzzles),
  );
  return state.close;
}

const drawingOf = (state, result) =>
  stage(
    state,
    "The picture on its way, and the guesses of its end",
    (root, width, value) => build(root, width, value, result),
    { key: ({ steps }) => steps },
  );

const controls = (state, digits, count, trained) =>
  element(
    "div",
    { class: "cl-controls" },
    choice(state, "digit", "digit", digits),
    choice(state, "steps", "steps", [1, 2, 4, 8, 16]),
    trained ? choice(state, "w", "guidance w", [0, 1, 2, 4]) : null,
    button(state, "Other noises", ({ pair }) => ({ pair: (pair + 1) % count })),
  );

export default { render };
