// @ts-check
// A scene is a `stage` on which parts stand: `build` makes them once per width, `pose` says where each of
// them is for a value of the state, and they glide there. So back, jump, replay and resize need no code of
// their own. A kind is "q", "k", "v", "position", "attention" or "stream": inside a node of class
// `cl-<kind>`, var(--tone) is its colour for shapes, var(--word) for words.

import { css, drawing, element, fill } from "./dom.js";
import { clamp } from "./numerics.js";

css`
  .cl-stage {
    margin: 0.4rem 0 0.2rem;
  }
  .cl-stage svg {
    user-select: none;
    -webkit-user-select: none;
  }
  .cl-stage text {
    text-anchor: middle;
  }
  .cl-stage .cl-start {
    text-anchor: start;
  }
  .cl-stage .cl-end {
    text-anchor: end;
  }
  .cl-stage .cl-over {
    paint-order: stroke;
    stroke: var(--ground);
    stroke-width: 4px;
  }
  .cl-stage .cl-strong {
    font-weight: 650;
  }
  .cl-stage .cl-own {
    fill: var(--word);
  }
  .cl-stage .cl-sub {
    font-size: 12px;
  }
  .cl-token rect {
    fill: color-mix(in oklab, var(--ink) 6%, var(--ground));
    stroke: var(--line);
    stroke-width: 1.2;
  }
  .cl-token text {
    font-size: 14px;
    font-weight: 600;
  }
  .cl-token[role="button"] {
    cursor: pointer;
  }
  .cl-token[role="button"]:hover rect {
    stroke: var(--first);
  }
  .cl-token.cl-pressed rect {
    stroke: var(--ink);
    stroke-width: 2.5;
  }
  .cl-token:focus,
  .cl-handle:focus {
    outline: none;
  }
  .cl-token:focus-visible rect,
  .cl-handle:focus-visible .cl-knob {
    stroke: var(--first);
    stroke-width: 3.5;
  }
  .cl-handle {
    cursor: grab;
    display: block; /* touch-action is not for what is inline, as a drawing's parts are */
    touch-action: none;
  }
  .cl-handle:active {
    cursor: grabbing;
  }
  @media (max-width: 30rem) {
    .cl-stage text {
      font-size: 12px;
    }
  }
  .cl-crowd0 {
    --tone: var(--first);
    fill: var(--first);
  }
  .cl-crowd1 {
    --tone: var(--second);
    fill: var(--second);
  }
`;

const calm = matchMedia("(prefers-reduced-motion: reduce)");
let isPrinting = false; // paper does not wait
addEventListener("beforeprint", () => {
  isPrinting = true;
});
addEventListener("afterprint", () => {
  isPrinting = false;
});

/** Something that moves: an SVG node with numbers (x, y, opacity o, and its own), and draw(numbers),
    which follows them. `to(changes)` glides there from where it is, after `delay`, in `ms`; `jump` is
    there at once, as everything is for who wants no motion.
    @template {SVGElement} N
    @param {Element} parent
    @param {N} node
    @param {Place} [first]
    @param {(numbers: any) => void} [draw] */
export function part(parent, node, first = {}, draw = () => {}) {
  /** @type {Place} */
  let now = { x: 0, y: 0, o: 1, ...first },
    goal = now,
    frame = 0;
  const show = () => {
    node.setAttribute("transform", `translate(${now.x} ${now.y})`);
    node.style.opacity = String(now.o);
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
        const t = jump || calm.matches || isPrinting ? 1 : clamp((time - start) / ms, 0, 1);
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

/** Parts that only come, go and move: anything in a group.
    @param {Element} parent
    @param {Place} first
    @param {Child[]} children */
export const group = (parent, first, ...children) =>
  part(parent, drawing("g", {}, children), first);

/** Text in a drawing, at its middle unless the class is "cl-start" or "cl-end"; "W_Q" lowers the Q.
    @param {string} text
    @param {number} x
    @param {number} y */
export function label(text, x, y, name = "") {
  const drop = { _: 3, "^": -5 };
  let above = 0; // what brings the text back to its line
  const pieces = (text.match(/[_^].|[^_^]+/g) ?? []).map((piece) => {
    const dy = drop[piece[0]] ?? 0;
    const shift = dy + above;
    above = -dy;
    if (dy) return drawing("tspan", { dy: shift, class: "cl-sub" }, piece[1]);
    return drawing("tspan", { dy: shift }, piece);
  });
  return drawing("text", { x, y, class: name }, pieces);
}

/** A drawing as wide as its place, where 1 unit is 1 CSS pixel. `build(root, width, value)` puts parts
    into it and returns { height, pose }; it runs again when the width or `key(value)` changes.
    `pose(value, { jump })` runs after every change of the state, and hands `{ jump }` on to the parts
    it moves. Returns the node.
    @param {State} state
    @param {string} label
    @param {(root: SVGSVGElement, width: number, value: Value) =>
     { height: number, pose: (value: Value, move: { jump: boolean }) => void }} build
    @param {{ key?: (value: Value) => string | number }} [more] */
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
    `say(text, number)` is for its pose: what a screen reader says of where it is.
    @param {SVGSVGElement} root
    @param {SVGElement} handle
    @param {{ name: string, move: (x: number, y: number) => void, nudge: (dx: number, dy: number) => void }} how */
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
    const [dx, dy] = way.map((step) => step * (event.shiftKey ? 5 : 1));
    nudge(dx, dy);
  });
  return {
    say: (text, number) => fill(handle, { "aria-valuetext": text, "aria-valuenow": number }, []),
  };
}
