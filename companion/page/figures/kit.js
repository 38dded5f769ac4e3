// The scene kit. A scene is a `stage` on which parts stand: `build` makes them once per width, `pose` says
// where each of them is for a value of the state, and they glide there. So back, jump, replay and
// resize need no code of their own. A kind is "q", "k", "v", "position", "attention" or "stream":
// inside a node of class `cl-<kind>`, var(--tone) is its colour for shapes, var(--word) for words.

import { button, connect } from "./controls.js";
import { drawing, element, fill, format, write } from "./dom.js";
import { clamp } from "./numerics.js";

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Something that moves: an SVG node with numbers (x, y, opacity o, and its own), and draw(numbers),
    which follows them. `to(changes)` glides there from where it is, after `delay`, in `ms`; `jump` is
    there at once, as everything is for who wants no motion. */
export function part(parent, node, first = {}, draw = () => {}) {
  let now = { x: 0, y: 0, o: 1, ...first },
    goal = now,
    frame = 0;
  const show = () => {
    node.setAttribute("transform", `translate(${now.x} ${now.y})`);
    node.style.opacity = now.o;
    node.style.visibility = now.o < 0.01 ? "hidden" : "";
    draw(now);
  };
  parent.append(node);
  show();
  return {
    node,
    to(changes, { jump = false, delay = 0, ms = 450 } = {}) {
      const settled = Object.keys(changes).every((key) => changes[key] === goal[key]);
      if (settled && !jump) return; // it is there, or on its way
      cancelAnimationFrame(frame);
      goal = { ...goal, ...changes };
      const from = now,
        start = performance.now() + delay;
      const tick = (time) => {
        const t = jump || calm.matches ? 1 : clamp((time - start) / ms, 0, 1);
        const eased = t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2;
        now = Object.fromEntries(
          Object.keys(goal).map((key) => {
            const begun = from[key] ?? goal[key];
            return [key, begun + (goal[key] - begun) * eased];
          }),
        );
        show();
        if (t < 1) frame = requestAnimationFrame(tick);
      };
      tick(performance.now());
    },
  };
}

/** Parts that only come, go and move: anything in a group. */
export const group = (parent, first, ...children) =>
  part(parent, drawing("g", {}, children), first);

/** Text in a drawing, at its middle unless the class is "cl-start" or "cl-end"; "W_Q" lowers the Q. */
export function label(text, x, y, name = "") {
  const pieces = text
    .split(/_(.)/)
    .map((piece, i) =>
      i % 2
        ? drawing("tspan", { dy: 3, class: "cl-sub" }, piece)
        : drawing("tspan", { dy: i ? -3 : 0 }, piece),
    );
  return drawing("text", { x, y, class: name }, pieces);
}

/** A word of a caption in its concept's colour, with its underline. */
export const mark = (kind, text) => element("b", { class: `cl-${kind}` }, text);

/** As many decimals as a number in a cell needs: none, or two. */
export const decimals = (number) => (Math.abs(number - Math.round(number)) < 1e-9 ? 0 : 2);

// ---------------------------------------------------------------- parts

/** A row of cells with numbers; the larger a number (up to `most`), the stronger its tint. */
export function cellRow(values, kind, { cell, height, most }) {
  const at = (i) => ({ x: i * cell, width: cell, height });
  const tints = values.map((_, i) => drawing("rect", { class: "cl-tint", ...at(i) }));
  const rules = values
    .slice(1)
    .map((_, i) => drawing("path", { class: "cl-rule", d: `M${(i + 1) * cell} 0v${height}` }));
  const size = { width: values.length * cell, height, rx: 3 };
  const texts = values.map((_, i) => drawing("text", { x: (i + 0.5) * cell, y: height / 2 + 4.5 }));
  const node = drawing(
    "g",
    { class: `cl-${kind}` },
    drawing("rect", { class: "cl-paper", ...size }),
    tints,
    rules,
    drawing("rect", { class: "cl-edge", ...size }),
    texts,
  );
  const set = (values) =>
    values.forEach((value, i) => {
      write(texts[i], value, decimals(value));
      tints[i].style.opacity = 0.42 * clamp(Math.abs(value) / most, 0, 1);
    });
  set(values);
  return { node, set };
}

/** A vector: a part with `set(values)`. `name` is the data-name of its node, for tests. */
export function strip(
  parent,
  values,
  kind,
  { cell = 40, height = 26, most = 2, name, first } = {},
) {
  const { node, set } = cellRow(values, kind, { cell, height, most });
  fill(node, { "data-name": name }, []);
  return { ...part(parent, node, first), set };
}

/** A vector of too many numbers to be read: cells alone. A part with `set(values, shade)`: a cell keeps
    its number and is as dark as shade(number), from 0 to 1. */
export function ribbon(parent, count, kind, { cell, height = 12, name, first }) {
  const at = (i) => ({ x: i * cell, width: cell, height });
  const cells = Array.from({ length: count }, (_, i) =>
    drawing("rect", { class: "cl-tint", ...at(i) }),
  );
  const size = { width: count * cell, height };
  const node = drawing(
    "g",
    { class: `cl-${kind}`, "data-name": name },
    drawing("rect", { class: "cl-paper", ...size }),
    cells,
    drawing("rect", { class: "cl-edge", ...size }),
  );
  const set = (values, shade) =>
    cells.forEach((rect, i) => {
      rect.dataset.value = String(values[i]);
      rect.style.opacity = clamp(shade(values[i]), 0, 1);
    });
  return { ...part(parent, node, first), set };
}

/** A matrix under its title and shape: a part with `set(rows)`, and `light(i)`, which brings one row
    forward (null: all of them). */
export function matrix(
  parent,
  rows,
  kind,
  { title, cell = 40, height = 26, most = 2, name, first } = {},
) {
  const lines = rows.map((row) => cellRow(row, kind, { cell, height, most }));
  lines.forEach(({ node }, i) => node.setAttribute("transform", `translate(0 ${i * height})`));
  const heading = `${title} ${rows.length} × ${rows[0].length}`;
  const node = drawing(
    "g",
    { class: `cl-${kind}`, "data-name": name },
    lines.map((line) => line.node),
    label(heading, (rows[0].length * cell) / 2, -9, "cl-own"),
  );
  return {
    ...part(parent, node, first),
    set: (rows) => rows.forEach((row, i) => lines[i].set(row)),
    light(row) {
      lines.forEach(({ node }, i) => {
        node.style.opacity = row === null || row === i ? 1 : 0.4;
      });
      if (row !== null) lines[row].node.parentNode.append(lines[row].node); // its edge on top
    },
  };
}

/** Words in a row, the middle of each at its centre: parts. With `pick(i)` they are buttons, and
    `press(i)` says which one is pressed. `wide(word)` is how wide a word's token is. */
export function tokenRow(
  parent,
  words,
  centres,
  { y = 0, height = 32, pick, name = "word", wide = (word) => word.length * 8.4 + 24 } = {},
) {
  const tokens = words.map((word, i) => {
    const width = wide(word);
    const act = pick && {
      role: "button",
      tabindex: 0,
      "aria-label": `${name} ${word}`,
      "aria-pressed": false,
    };
    const node = drawing(
      "g",
      { class: "cl-token", ...act },
      drawing("rect", { x: -width / 2, width, height, rx: height / 2 }),
      label(word, 0, height / 2 + 5),
    );
    if (pick) {
      node.addEventListener("click", () => pick(i));
      node.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        pick(i);
      });
    }
    return part(parent, node, { x: centres[i], y });
  });
  tokens.press = (pressed) =>
    tokens.forEach(({ node }, i) => {
      node.classList.toggle("cl-pressed", i === pressed);
      if (pick) node.setAttribute("aria-pressed", i === pressed);
    });
  return tokens;
}

/** An arrow from (x1, y1) to (x2, y2), `w` pixels thick: a part with these five numbers. With `bend`
    it leaves and arrives upright, with `head: false` it has no tip. */
export function arrow(parent, kind, first, { bend = false, head = true } = {}) {
  const shaft = drawing("path", { class: "cl-shaft" }),
    tip = drawing("path", { class: "cl-tip" });
  const node = drawing("g", { class: `cl-${kind}` }, shaft, tip);
  const start = { x1: 0, y1: 0, x2: 0, y2: 0, w: 1.5, ...first };
  return part(parent, node, start, ({ x1, y1, x2, y2, w }) => {
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [ux, uy] = bend ? [0, Math.sign(y2 - y1) || 1] : [(x2 - x1) / length, (y2 - y1) / length];
    const back = head ? Math.min(length, 6 + 0.45 * w) : 0,
      side = w / 2 + 3.5;
    const bx = x2 - ux * back,
      by = y2 - uy * back,
      middle = (y1 + by) / 2;
    const curve = `M${x1} ${y1}C${x1} ${middle} ${bx} ${middle} ${bx} ${by}`;
    fill(shaft, { "stroke-width": w, d: bend ? curve : `M${x1} ${y1}L${bx} ${by}` }, []);
    const corners = `L${bx - uy * side} ${by + ux * side}L${bx + uy * side} ${by - ux * side}Z`;
    tip.setAttribute("d", head ? `M${x2} ${y2}${corners}` : "");
  });
}

/** Attention weights [query][key] as a square of `side` pixels, queries downwards: a part with
    `set(rows)` and `light(query)`, which frames a row. */
export function weightMap(parent, length, side, { title, name, first } = {}) {
  const cell = side / length;
  const squares = Array.from({ length }, (_, i) =>
    Array.from({ length: i + 1 }, (_, j) =>
      drawing("rect", { class: "cl-tip", x: j * cell, y: i * cell, width: cell, height: cell }),
    ),
  );
  const paper = drawing("rect", { class: "cl-axis", width: side, height: side });
  const row = drawing("rect", {
    class: "cl-edge",
    width: side,
    height: cell,
    style: "stroke-width: 2; fill: none; visibility: hidden",
  });
  const node = drawing(
    "g",
    { class: "cl-attention", "data-name": name },
    paper,
    squares.flat(),
    row,
    label(title, side / 2, -8, "cl-strong"),
  );
  return {
    ...part(parent, node, first),
    set: (rows) =>
      rows.forEach((weights, i) =>
        weights.forEach((weight, j) => {
          squares[i][j].style.opacity = weight;
        }),
      ),
    light: (query) => {
      row.setAttribute("y", query * cell);
      row.style.visibility = "visible";
    },
  };
}

// ---------------------------------------------------------------- the stage

/** A drawing as wide as its place, where 1 unit is 1 CSS pixel. `build(root, width, value)` puts parts
    into it and returns { height, pose }; it runs again when the width or `key(value)` changes.
    `pose(value, { jump })` runs after every change of the state, and hands `{ jump }` on to the parts
    it moves. Returns the node. */
export function stage(state, label, build, { key = () => "" } = {}) {
  const root = drawing("svg", {
    role: "group",
    "aria-label": label,
    "data-lm-suppress-shortcuts": true,
  });
  const box = element("div", { class: "cl-stage" }, root);
  let built = "",
    scene;
  state.drawWide(box, (value, exact) => {
    const width = Math.floor(exact),
      now = `${width} ${key(value)}`;
    const jump = now !== built;
    if (jump) {
      built = now;
      root.replaceChildren();
      scene = build(root, width, value);
      const { height } = scene;
      fill(root, { viewBox: `0 0 ${width} ${height}`, width, height }, []);
    }
    scene.pose(value, { jump });
  });
  return box;
}

/** Let a handle of a drawing be dragged: `move(x, y)` gets the pointer's place in the drawing,
    `nudge(dx, dy)` the arrow keys (y upwards; five at once with Shift). `name` is the handle's name;
    `say(text, number)` is for its pose: what a screen reader says of where it is. */
export function draggable(root, handle, { name, move, nudge }) {
  fill(handle, { class: "cl-handle", role: "slider", tabindex: 0, "aria-label": name }, []);
  const follow = (event) => {
    const box = root.getBoundingClientRect(),
      view = root.viewBox.baseVal;
    const scale = view.width / box.width;
    move((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
  };
  handle.addEventListener("pointerdown", (event) => {
    handle.setPointerCapture(event.pointerId);
    handle.focus({ preventScroll: true });
    event.preventDefault();
    follow(event);
  });
  handle.addEventListener("pointermove", (event) => {
    if (handle.hasPointerCapture(event.pointerId)) follow(event);
  });
  handle.addEventListener("keydown", (event) => {
    const ways = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const way = ways[event.key];
    if (!way || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    nudge(...way.map((step) => step * (event.shiftKey ? 5 : 1)));
  });
  return {
    say: (text, number) => fill(handle, { "aria-valuetext": text, "aria-valuenow": number }, []),
  };
}

// ---------------------------------------------------------------- leading through it

/** Steps through a scene: progress line, Back, Next, Play, and a caption that is spoken. The step is
    `value.step`; draw from it. Each of `steps` is { name, caption, hold }: `caption` a text, or
    caption(value) -> a text or nodes; Play waits where hold(value) is true. It has the one
    <output> of a figure, so such a figure needs no `announce`. The captions have the room of the
    longest, of those for each of `others` (changes of the state) and of those so far as well. */
export function stepper(state, { steps, pace = 3600, others = [] }) {
  const last = steps.length - 1;
  const go = (to) => ({ step: clamp(to, 0, last) });
  let timer = 0,
    due = 0;

  const line = element("input", {
    type: "range",
    min: 0,
    max: last,
    name: "step",
    "aria-label": "step",
  });
  line.addEventListener("input", () => state.set(go(line.valueAsNumber)));
  const names = steps.map(({ name }, i) => {
    const node = element("span", {}, name); // for the pointer; the line does it for the keyboard
    node.addEventListener("click", () => state.set(go(i)));
    return node;
  });
  const longest = Math.max(...steps.map(({ name }) => name.length));
  const at = element("span", { class: `cl-score${longest > 7 ? " cl-long" : ""}` });
  state.draw(({ step }) => {
    line.value = step;
    line.setAttribute("aria-valuetext", `${step + 1} of ${last + 1}, ${steps[step].name}`);
    names.forEach((node, i) => {
      node.className = i === step ? "cl-now" : "";
    });
    at.textContent = `${step + 1} of ${last + 1}: ${steps[step].name}`;
  });

  const turn = (text, by, end, name) =>
    button(state, text, ({ step }) => go(step + by), {
      class: name,
      // not `disabled`, which would throw away the focus
      draw: (node, { step }) => node.setAttribute("aria-disabled", step === end),
    });
  const play = element("button", { type: "button" }, "Play");
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  };
  const onward = (step) => {
    due = step;
    state.set({ step });
  };
  const tick = () => {
    const { step } = state.value;
    if (step === last || steps[step].hold?.(state.value)) stop();
    else onward(step + 1);
  };
  play.addEventListener("click", () => {
    if (timer) return stop();
    timer = setInterval(tick, pace);
    play.textContent = "Pause";
    onward(state.value.step === last ? 0 : state.value.step + 1);
  });
  state.draw(({ step }) => {
    if (timer && step !== due) stop(); // the reader has turned
  });
  state.atEnd(stop);

  const say = element("output", { class: "cl-say", "aria-live": "polite" });
  const ghosts = steps.map(() => element("p", { "aria-hidden": "true" }));
  const captionAt = (step, value) => {
    const { caption } = steps[step];
    return [typeof caption === "function" ? caption({ ...value, step }) : caption].flat();
  };
  const hold = (value) =>
    ghosts.forEach((ghost, i) => {
      const next = element("p", {}, captionAt(i, value));
      if (next.textContent.length > ghost.textContent.length)
        ghost.replaceChildren(...next.childNodes);
    });
  others.forEach((changes) => hold({ ...state.value, ...changes }));
  state.draw((value) => {
    say.replaceChildren(...captionAt(value.step, value));
    hold(value);
  });

  const node = element(
    "div",
    { class: "cl-stepper" },
    element(
      "div",
      { class: "cl-steps", style: `--steps: ${steps.length}` },
      line,
      last < 12 ? element("div", { "aria-hidden": "true" }, names) : null, // room for them
    ),
    element(
      "div",
      { class: "cl-controls" },
      turn("Back", -1, 0),
      turn("Next", 1, last, "cl-main"),
      play,
      at,
    ),
    element("div", { class: "cl-captions" }, say, ghosts),
  );
  node.addEventListener("keydown", (event) => {
    if (event.target === line) return; // knows these keys itself
    const { step } = state.value;
    const keys = { ArrowRight: step + 1, ArrowLeft: step - 1, Home: 0, End: last };
    if (!(event.key in keys) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    state.set(go(keys[event.key]));
  });
  return node;
}

/** Keep a node as high as the highest thing that `draw(value)` puts into it for any of `values`, so that
    what stands below stays where it is. */
export function steady(state, node, values, draw) {
  let measured = 0;
  state.drawWide(node, (value, width) => {
    if (width !== measured) {
      measured = width;
      node.style.minHeight = "";
      const heights = values.map((other) => {
        draw(other);
        return node.offsetHeight;
      });
      node.style.minHeight = `${Math.max(...heights)}px`;
    }
    draw(value);
  });
  return node;
}

/** A guess before the answer: a question over a slider ({ low, high, step, describe }), radio buttons
    ({ choices }) or a node that sets the guess itself ({ input }), and a button. The state's
    value[key] is { guess, shown }: the number or the choice (null: none yet), and whether the answer
    may be seen. `act(value)` gives further changes of the state for when it is shown. */
export function predict(state, key, { question, choices, input, act = () => ({}), ...range }) {
  const set = (changes, more) => state.set({ [key]: { ...state.value[key], ...changes }, ...more });
  const asked = () =>
    choices ? chooseGuess(state, key, set, choices) : slideGuess(state, key, set, range);
  const show = element("button", { type: "button", class: "cl-main" });
  show.addEventListener("click", () => {
    const { guess, shown } = state.value[key];
    if (guess === null) field.querySelector("input").focus();
    else if (shown) set({ shown: false });
    else set({ shown: true }, act(state.value));
  });
  state.draw((value) => {
    show.textContent = value[key].shown ? "Guess again" : "Show the answer";
  });
  const few = choices && choices.join("").length < 30; // they stand in a row
  const field = element(
    "fieldset",
    { class: `cl-question cl-predict${few ? " cl-few" : ""}`, "data-name": key },
    element("legend", {}, question),
    input ?? asked(),
    element("div", { class: "cl-controls" }, show),
  );
  return field;
}

function slideGuess(state, key, set, { low, high, step, describe = (number) => format(number) }) {
  const input = element("input", { type: "range", min: low, max: high, step, name: key });
  const number = element("b");
  input.addEventListener("input", () => set({ guess: input.valueAsNumber }));
  state.draw(({ [key]: { guess, shown } }) => {
    input.value = guess;
    input.disabled = shown;
    number.textContent = describe(guess);
    input.setAttribute("aria-valuetext", number.textContent);
  });
  const text = element("span", {}, "your guess ", number);
  return element("label", { class: "cl-control" }, text, input);
}

function chooseGuess(state, key, set, choices) {
  const name = `${key}-${(connect.count = (connect.count ?? 0) + 1)}`;
  const inputs = choices.map((option) => element("input", { type: "radio", name, value: option }));
  inputs.forEach((input, i) => input.addEventListener("change", () => set({ guess: choices[i] })));
  state.draw(({ [key]: { guess, shown } }) =>
    inputs.forEach((input, i) => {
      input.checked = choices[i] === guess;
      input.disabled = shown && !input.checked;
    }),
  );
  return choices.map((option, i) => element("label", {}, inputs[i], element("span", {}, option)));
}

/** Puzzles that check themselves: [{ text, reached(value) }]. Once reached, a goal stays reached. */
export function goals(state, list) {
  const spoken = element("span", { class: "cl-hidden", "aria-live": "polite" });
  const items = list.map(({ text }) => element("li", {}, text));
  state.draw((value) =>
    list.forEach(({ text, reached }, i) => {
      if (items[i].className || !reached(value)) return;
      items[i].className = "cl-reached";
      items[i].append(element("span", { class: "cl-hidden" }, " (reached)"));
      spoken.textContent = `Goal reached: ${text}`;
    }),
  );
  return element(
    "div",
    { class: "cl-goals" },
    element("p", {}, "Goals, ticked when you reach them"),
    element("ul", { "aria-label": "goals" }, items),
    spoken,
  );
}
