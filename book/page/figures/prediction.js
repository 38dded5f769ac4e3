// A guess, then the truth beside it, measured or computed: on a slider, among choices, or as a line drawn by dragging.

import { axes, scale } from "../kit/axes.js";
import { connect } from "../kit/controls.js";
import { announce, css, drawing, element, fill, format, frame, write } from "../kit/dom.js";
import { clamp } from "../kit/numerics.js";
import { predict } from "../kit/predict.js";
import { draggable, label, part, stage } from "../kit/stage.js";

css`
  path.cl-measured {
    fill: none;
    stroke: var(--second);
    stroke-width: 3;
  }
  /* Until there is an answer, what is said is for those who hear it, and has no room. */
  .cl-predict:has(+ .cl-until) {
    margin-bottom: 0;
  }
  .cl-until {
    height: 0;
    overflow: hidden;
  }
  .cl-legend {
    display: flex;
    gap: 1.2rem;
    color: var(--quiet);
    font-size: 0.86rem;
  }
  .cl-legend span::before {
    content: "";
    display: inline-block;
    width: 1.6rem;
    margin-right: 0.4rem;
    vertical-align: middle;
    border-top: 2px dashed var(--first);
  }
  .cl-legend .cl-measured::before {
    border-top: 3px solid var(--second);
  }
`;

function render({ model, el }) {
  const data = model.get("data");
  const state = connect(model);
  const unit = data.unit && `\u00a0${data.unit}`;
  const describe = (number) => format(number, data.digits) + unit;
  // of a scale, as a person writes it: 0 and 25, not 0.0 and 25.0
  const end = (number) => String(Number(number.toFixed(9))).replace("-", "\u2212") + unit;
  const ask = data.choices ? amongChoices : data.x ? onLine : onSlider;
  const { field, verdict } = ask(state, { ...data, describe, end });
  const answer = (guess) => `${verdict(guess)} ${data.because}`.trim();
  const say = announce(state, ({ prediction: { guess, shown } }) =>
    shown ? answer(guess) : "Make your guess, then see the answer.",
  );
  state.draw(({ prediction: { shown } }) => say.classList.toggle("cl-until", !shown));
  say.style.whiteSpace = "pre-line";
  frame(el, "Predict, then look", field, say);
  return state.close;
}

function amongChoices(state, { question, choices, truth }) {
  const field = predict(state, "prediction", { question, choices });
  const options = field.querySelectorAll("label");
  state.draw(({ prediction: { shown } }) =>
    options.forEach((option, i) => {
      option.classList.toggle("cl-true", shown && choices[i] === truth);
    }),
  );
  const quoted = (text) => (text?.startsWith("“") ? text : `“${text}”`);
  const full = /[.?]$/.test(truth) ? "" : ".";
  const verdict = (guess) =>
    guess === null
      ? `It is ${quoted(truth)}.`
      : guess === truth
      ? `✓ Right: ${truth}${full}`
      : `✗ You chose ${quoted(guess)}; it is ${quoted(truth)}.`;
  return { field, verdict };
}

/** The guess is a ring, the truth a dot; both slide along a line below the slider. */
function onSlider(state, { question, low, high, step, truth, found: how, describe, end }) {
  const field = predict(state, "prediction", { question, low, high, step, describe });
  const picture = stage(state, `the guess, and what was ${how}`, (root, width) => {
    const side = 8, // half the slider's thumb
      y = 12;
    const place = (number) => side + ((number - low) / (high - low)) * (width - 2 * side);
    const gap = drawing("path", { class: "cl-gap" });
    const ends = [
      label(end(low), 0, y + 26, "cl-quiet cl-start"),
      label(end(high), width, y + 26, "cl-quiet cl-end"),
    ];
    root.append(
      drawing("path", { class: "cl-axis", d: `M${side} ${y}H${width - side}` }),
      ...ends,
      gap,
    );
    const ring = part(root, drawing("circle", { class: "cl-ring", r: 7 }), { y });
    const text = write(label("", 0, 0, "cl-strong"), truth);
    text.textContent = `${how} ${describe(truth)}`;
    const half = text.textContent.length * 4.5;
    const middle = clamp(place(truth), half, width - half);
    fill(text, { x: middle, y: y + 26 }, []);
    const room = (number) => 8 * end(number).length + half;
    const covered = [middle < room(low), middle > width - room(high)]; // an end of the scale
    const words = part(root, text, { o: 0 });
    const dot = drawing("circle", { class: "cl-found", r: 6 });
    const found = part(root, dot, { y, o: 0 }, ({ x }) => {
      gap.setAttribute("d", `M${place(state.value.prediction.guess ?? truth)} ${y}H${x}`);
    });
    return {
      height: y + 32,
      pose({ prediction: { guess, shown } }, { jump }) {
        ends.forEach((name, i) => {
          name.style.visibility = shown && covered[i] ? "hidden" : "";
        });
        ring.to({ x: place(guess ?? low), o: guess === null ? 0 : 1 }, { jump: true });
        gap.style.visibility = shown ? "" : "hidden";
        const x = place(shown ? truth : (guess ?? truth));
        found.to({ x, o: shown ? 1 : 0 }, { jump: jump || !shown });
        words.to({ o: shown ? 1 : 0 }, { jump: jump || !shown });
      },
    };
  });
  field.lastChild.before(picture);
  const verdict = (guess) =>
    guess === null
      ? `It is ${describe(truth)}.`
      : `You guessed ${describe(guess)}; it is ${describe(truth)}.`;
  return { field, verdict };
}

/** Points to be dragged up and down; who drags one along draws all that the pointer passes. */
function onLine(state, data) {
  const { question, low, high, step, digits, truth, x, places, along, describe, end } = data;
  const flat = x.map(() => Number(((low + high) / 2).toFixed(digits)));
  const drawn = () => state.value.prediction.guess ?? flat; // until a point is dragged
  const set = (i, number) => {
    const { shown } = state.value.prediction;
    if (shown) return;
    const rounded = Number(clamp(number, low, high).toFixed(digits));
    state.set({ prediction: { guess: drawn().map((old, j) => (j === i ? rounded : old)), shown } });
  };
  const picture = stage(state, "a line over its points", (root, width) => {
    const ends = [low, (low + high) / 2, high];
    const left = 28 + 7.5 * Math.max(...ends.map((number) => end(number).length)),
      right = width - 20,
      top = 14,
      bottom = 194;
    const at = scale([0, 1], [left, right]);
    // as many names as there is room for, and the last one
    const named = x.reduceRight((kept, name, i) => {
      const room = 4 * (name.length + x[kept[0] ?? i].length) + 8;
      return kept.length && at(places[kept[0]] - places[i]) - left < room ? kept : [i, ...kept];
    }, []);
    const { y: py } = axes(
      root,
      { left, right, top, bottom },
      {
        x: {
          first: 0,
          last: 1,
          ticks: named.map((i) => places[i]),
          text: (place) => x[places.indexOf(place)],
          gap: 22,
        },
        y: { first: low, last: high, ticks: ends, text: end, gap: 14 },
      },
    );
    const px = (i) => at(places[i]);
    const nearest = (mx) =>
      places.reduce((best, _, i) => (Math.abs(px(i) - mx) < Math.abs(px(best) - mx) ? i : best), 0);
    const line = (numbers) =>
      numbers.map((number, i) => `${i ? "L" : "M"}${px(i)} ${py(number)}`).join("");
    const guessed = drawing("path", { class: "cl-guessed" }),
      measured = drawing("path", { class: "cl-measured" });
    root.append(guessed, label(along, (left + right) / 2, bottom + 44, "cl-quiet"));
    const found = part(root, measured, { t: 0, o: 0 }, ({ t }) => {
      const guess = drawn();
      const between = (number, i) => guess[i] + (number - guess[i]) * t;
      measured.setAttribute("d", line(truth.map(between)));
    });
    const handles = x.map((name, i) => {
      const node = drawing(
        "g",
        {},
        drawing("circle", { class: "cl-hit", r: 20 }),
        drawing("circle", { class: "cl-ring cl-knob", r: 7 }),
      );
      const drag = draggable(root, node, {
        name: `guess at ${name}`,
        move: (mx, my) => set(nearest(mx), low + ((bottom - my) / (bottom - top)) * (high - low)),
        nudge: (dx, dy) => set(i, drawn()[i] + (dx + dy) * 2 * step),
      });
      fill(node, { "aria-valuemin": low, "aria-valuemax": high }, []);
      return { ...part(root, node, { x: px(i) }), drag };
    });
    return {
      height: bottom + (along ? 52 : 30),
      pose({ prediction: { shown } }, { jump }) {
        const guess = drawn();
        guessed.setAttribute("d", line(guess));
        handles.forEach(({ to, drag }, i) => {
          to({ y: py(guess[i]) }, { jump: true });
          drag.say(describe(guess[i]), guess[i]);
        });
        found.to({ t: shown ? 1 : 0, o: shown ? 1 : 0 }, { jump: jump || !shown, ms: 900 });
      },
    };
  });
  const legend = element(
    "p",
    { class: "cl-legend" },
    element("span", { class: "cl-guessed" }, "your guess"),
    element("span", { class: "cl-measured" }, data.found),
  );
  const field = predict(state, "prediction", {
    question: `${question} Drag the points.`,
    input: element("div", {}, picture, legend),
  });
  const verdict = (guess) => {
    if (guess === null) return "";
    const off = guess.reduce((sum, number, i) => sum + Math.abs(number - truth[i]), 0) / x.length;
    return `Your line is ${describe(off)} off on average.`;
  };
  return { field, verdict };
}

export default { render };
