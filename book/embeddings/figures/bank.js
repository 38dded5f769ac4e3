// A word of two meanings between the companies of both, in the plane of its two mates.

import { choice, connect, remember, slider, toggle } from "../../page/kit/controls.js";
import {
  announce,
  css,
  drawing,
  element,
  fill,
  format,
  frame,
  steady,
} from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax, clamp, dot, norm } from "../../page/kit/numerics.js";
import { unpack } from "../../page/kit/packed.js";
import { arrow } from "../../page/kit/parts.js";
import { draggable, label, part, stage } from "../../page/kit/stage.js";
import { answerList } from "../../page/kit/tables.js";

css`
  .cl-homonym {
    --tone: var(--ink);
  }
  .cl-stranger {
    fill: none;
    stroke: var(--quiet);
    stroke-width: 1.5;
  }
  .cl-mixing {
    display: flex;
    flex-wrap: wrap;
    gap: 0.4rem 2rem;
    align-items: start;
    margin-top: 0.6rem;
    .cl-answers {
      flex: 1 1 15rem;
      font-size: 0.9rem;
    }
    .cl-goals {
      flex: 1 1 19rem;
    }
    .cl-goals p {
      margin-top: 0;
    }
  }
`;

const minus = (a, b) => Array.from(a, (x, i) => x - b[i]);
const plus = (a, b) => Array.from(a, (x, i) => x + b[i]);
const unitOf = (vector) => {
  const size = norm(vector) || 1;
  return Array.from(vector, (x) => x / size);
};

function render({ model, el }) {
  const { words, vectors, homonyms, mates, cues } = model.get("data");
  const raw = unpack(vectors).map(unitOf);
  const others = Object.values(mates).flat();
  const at = (rows, word) => rows[words.indexOf(word)];
  const common = others
    .map((mate) => at(raw, mate))
    .reduce(plus)
    .map((x) => x / others.length);
  const left = raw.map((row) => unitOf(minus(row, common)));
  const state = connect(model);
  const shared = ({ word, mix }) => `${100 - mix} ${mates[word][0]} : ${mix} ${mates[word][1]}`;

  /** What is to be seen: every word's place in the plane of the two mates, and the cosines. */
  const result = remember(({ word, common, mix }) => {
    const rows = common ? raw : left,
      [first, second] = mates[word].map((mate) => at(rows, mate)),
      here = at(rows, word);
    const across = unitOf(minus(second, first)),
      up = unitOf(plus(first, second));
    const place = (vector) => [dot(vector, across), dot(vector, up)];
    const mixture = (share) =>
      unitOf(
        plus(
          Array.from(first, (x) => x * (1 - share)),
          second.map((x) => x * share),
        ),
      );
    const mixed = mixture(mix / 100);
    const strangers = others.filter((mate) => !mates[word].includes(mate));
    const near = strangers.map((mate) => dot(first, at(rows, mate)));
    const [x, y] = place(here);
    return {
      place: (text) => place(at(rows, text)),
      mixed: place(mixed),
      along: (share) => place(mixture(share / 100)),
      strangers,
      explained: x * x + y * y,
      best: Math.max(...Array.from({ length: 21 }, (_, i) => dot(here, mixture(i / 20)))),
      cosines: [
        [`${mates[word][0]} and ${mates[word][1]}`, dot(first, second)],
        [`${mates[word][0]} and others’ mates`, near.reduce((a, b) => a + b) / near.length],
        [`${word} and the mixture`, dot(here, mixed)],
      ],
    };
  });

  const picture = stage(state, "The plane of the two mates", (root, width) => {
    const radius = Math.min(0.37 * width, 196);
    const pixel = ([x, y]) => ({ x: width / 2 + radius * x, y: 26 + radius * (1 - y) });
    const origin = pixel([0, 0]);
    const arc = `A${radius} ${radius} 0 0 1 ${origin.x + radius} ${origin.y}Z`;
    root.append(
      drawing("path", { class: "cl-axis", d: `M${origin.x - radius} ${origin.y}${arc}` }),
    );
    const dot = (name, shape) => part(root, drawing("g", { class: name }, shape()), pixel([0, 0]));
    const circle = () => drawing("circle", { r: 4.5 });
    const triangle = () => drawing("path", { d: "M0 -6L5.5 4L-5.5 4Z" });
    const cross = () => drawing("path", { d: "M-4 -4L4 4M-4 4L4 -4" });
    const crowds = [circle, triangle].map((shape, side) =>
      Array.from({ length: 8 }, () => dot(`cl-crowd${side}`, shape)),
    );
    const strange = Array.from({ length: others.length - 2 }, () => dot("cl-stranger", cross));
    const arrows = ["cl-crowd0", "cl-crowd1", "cl-homonym"].map((name) => {
      const { x, y } = origin;
      const made = arrow(root, "stream", { x1: x, y1: y, x2: x, y2: y, w: 2.5 });
      made.node.classList.add(name);
      return made;
    });
    const handle = drawing(
      "g",
      {},
      drawing("circle", { class: "cl-hit", r: 22 }),
      drawing("circle", { class: "cl-ring cl-knob", r: 8 }),
    );
    const ring = part(root, handle, pixel([0, 1]));
    const shares = Array.from({ length: 21 }, (_, i) => 5 * i);
    const spoken = draggable(root, handle, {
      name: "mixture, moved with the arrow keys",
      move(x, y) {
        const far = shares.map((share) => {
          const at = pixel(result(state.value).along(share));
          return Math.hypot(at.x - x, at.y - y);
        });
        state.set({ mix: shares[argmax(far.map((distance) => -distance))] });
      },
      nudge: (dx, dy) => state.set({ mix: clamp(state.value.mix + 5 * (dx + dy), 0, 100) }),
    });
    fill(handle, { "aria-valuemin": 0, "aria-valuemax": 100 }, []);
    const names = ["cl-strong cl-end", "cl-strong cl-start", "cl-strong"].map((name) => {
      const text = label("", 0, 0, name);
      return { text, ...part(root, drawing("g", {}, text), pixel([0, 1])) };
    });
    const pose = (value, moved) => {
      const found = result(value),
        main = [...mates[value.word], value.word];
      crowds.forEach((dots, side) =>
        dots.forEach((dot, i) => dot.to(pixel(found.place(cues[value.word][side][i])), moved)),
      );
      strange.forEach((dot, i) => dot.to(pixel(found.place(found.strangers[i])), moved));
      main.forEach((text, i) => {
        const { x, y } = pixel(found.place(text));
        arrows[i].to({ x2: x, y2: y }, moved);
        names[i].text.textContent = text;
        names[i].to({ x: x + [-8, 8, 0][i], y: y - [2, 2, 12][i] }, moved);
      });
      ring.to(pixel(found.mixed), moved);
      spoken.say(shared(value), value.mix);
    };
    return { height: 26 + radius * 1.22, pose };
  });

  const legend = element("p", { class: "cl-marks" });
  const every = homonyms.map((word) => ({ ...state.value, word }));
  steady(state, legend, every, ({ word }) => {
    const some = (side) => cues[word][side].slice(0, 2).join(", ");
    const marks = [
      `● ${some(0)} …`,
      `▲ ${some(1)} …`,
      "× mates of other words",
      "○ the mixture: drag it",
    ];
    legend.replaceChildren(...marks.map((text) => element("span", {}, text)));
  });
  const cosines = answerList(state, "cosines", (value) => result(value).cosines, 2);
  cosines.style.gridTemplateColumns = "max-content minmax(2rem, 14rem) max-content";
  const tell = (value) => {
    const { explained, cosines } = result(value);
    return (
      `${value.common ? "With" : "Without"} the common part, the cosine of ` +
      `${cosines[0][0]} is ${format(cosines[0][1])}. A sum of them gives ${format(100 * explained, 0)} % of the ` +
      `squared length of ${value.word}.`
    );
  };
  const say = announce(
    state,
    tell,
    every.map((value) => tell({ ...value, common: false })),
  );
  const puzzles = goals(state, [
    {
      text: "With the common part: with one mate alone, still reach a cosine above .85.",
      reached: (value) =>
        value.common && value.mix % 100 === 0 && result(value).cosines[2][1] > 0.85,
    },
    {
      text: "Without the common part: find the mixture nearest to bank.",
      reached: (value) => {
        const { cosines, best } = result(value);
        return value.word === "bank" && !value.common && cosines[2][1] > best - 0.003;
      },
    },
  ]);
  frame(
    el,
    "One vector between two meanings",
    element(
      "div",
      { class: "cl-controls" },
      choice(state, "word", "word", homonyms),
      slider(state, "mix", "mixture:", {
        min: 0,
        max: 100,
        step: 5,
        describe: (_, value) => shared(value),
      }),
      toggle(state, "common", "with the part that all mates share"),
    ),
    picture,
    legend,
    say,
    element("div", { class: "cl-mixing" }, puzzles, cosines),
  );
  return state.close;
}

export default { render };
