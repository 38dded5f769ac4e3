// @ts-check
// Leading through a scene.

import { button } from "./controls.js";
import { css, element, roomIn } from "./dom.js";
import { clamp } from "./numerics.js";

css`
  .cl-steps {
    margin-top: 0.5rem;
  }
  .cl-steps input[type="range"] {
    display: block;
    width: 100%;
    margin: 0 auto;
  }
  .cl-named input[type="range"] {
    width: calc(100% - 100% / var(--steps) + 1rem);
  }
  .cl-steps div {
    display: grid;
    grid-template-columns: repeat(var(--steps), 1fr);
    color: var(--quiet);
    font-size: 0.8rem;
    text-align: center;
    cursor: pointer;
  }
  .cl-steps .cl-now {
    color: var(--ink);
    font-weight: 600;
  }
  .cl-stepper .cl-controls {
    gap: 0.5rem;
    margin: 0.6rem 0 0;
    align-items: center;
  }
  .cl-stepper .cl-score {
    min-height: 1.4em;
  }
  .cl-named .cl-score span {
    display: none; /* the step's name stands under the line */
  }
  .cl-beside .cl-long {
    flex-basis: 100%;
  }
  @media (max-width: 30rem) {
    .cl-steps div {
      display: none;
    }
    .cl-named .cl-score span {
      display: inline;
    }
    .cl-stepper .cl-long {
      flex-basis: 100%; /* whether it would fit or not, so that no step is higher */
    }
    .cl-named input[type="range"] {
      width: 100%;
    }
  }
`;

/** Steps through a scene: progress line, Back, Next, Play, and a caption that is spoken. The step is
    `value.step`; draw from it. Each of `steps` is { name, caption, hold }: `caption` a text, or
    caption(value) -> a text or nodes; Play waits where hold(value) is true. It has the one
    <output> of a figure, so such a figure needs no `announce`. The captions have the room of the
    highest, of those for each of `others` (changes of the state) and of those so far as well. The
    names of up to 12 steps are under the line, on a narrow page only that of the step beside the
    buttons; there alone also without `names`, and `beside` a picture, where that has a row of its own.
    @param {State} state
    @param {{ steps: Step[], pace?: number, others?: Value[], names?: boolean, beside?: boolean }} lead */
export function stepper(state, { steps, pace = 3600, others = [], names = true, beside = false }) {
  const last = steps.length - 1;
  const named = names && !beside && last < 12; // room for them
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
  const marks = steps.map(({ name }, i) => {
    const node = element("span", {}, name); // for the pointer; the line does it for the keyboard
    node.addEventListener("click", () => state.set(go(i)));
    return node;
  });
  const longest = Math.max(...steps.map(({ name }) => name.length));
  const at = element("span", { class: `cl-score${longest > 7 ? " cl-long" : ""}` });
  state.draw(({ step }) => {
    line.value = step;
    line.setAttribute("aria-valuetext", `${step + 1} of ${last + 1}, ${steps[step].name}`);
    marks.forEach((node, i) => {
      node.className = i === step ? "cl-now" : "";
    });
    at.replaceChildren(`${step + 1} of ${last + 1}`, element("span", {}, `: ${steps[step].name}`));
  });

  const turn = (text, by, end, name) =>
    button(state, text, ({ step }) => go(step + by), {
      class: name,
      // not `disabled`, which would throw away the focus
      draw: (node, { step }) => node.setAttribute("aria-disabled", String(step === end)),
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
  // Nobody turns the steps on paper: a scene that opens with its first is printed with its last.
  const unfold = () => {
    if (state.value.step > 0) return;
    state.set(go(last));
    addEventListener("afterprint", () => state.set(go(0)), { once: true });
  };
  addEventListener("beforeprint", unfold);
  state.atEnd(() => removeEventListener("beforeprint", unfold));

  const say = element("output", { class: "cl-say", "aria-live": "polite" });
  const captions = element("div", { class: "cl-captions" }, say),
    room = roomIn(captions);
  /** @type {(step: number, value: Value) => any[]} */
  const captionAt = (step, value) => {
    const { caption } = steps[step];
    return [typeof caption === "function" ? caption({ ...value, step }) : caption].flat();
  };
  const hold = (value) => steps.forEach((_, i) => room(...captionAt(i, value)));
  others.forEach((changes) => hold({ ...state.value, ...changes }));
  state.draw((value) => {
    say.replaceChildren(...captionAt(value.step, value));
    hold(value);
  });

  const node = element(
    "div",
    { class: `cl-stepper${named ? " cl-named" : ""}${beside ? " cl-beside" : ""}` },
    element(
      "div",
      { class: "cl-steps", style: `--steps: ${steps.length}` },
      line,
      named ? element("div", { "aria-hidden": "true" }, marks) : null,
    ),
    element(
      "div",
      { class: "cl-controls" },
      turn("Back", -1, 0),
      turn("Next", 1, last, "cl-main"),
      play,
      at,
    ),
    captions,
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
