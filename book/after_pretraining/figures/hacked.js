// A model that is paid for words on the topic, while it learns: what is paid for, what was wanted, how far it
// has gone, and what it writes.

import { connect } from "../../page/kit/controls.js";
import { drawing, element, format, frame, steady, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { part, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

const CURVES = [
  ["proxy", "points paid, mean", 2],
  ["truth", "share that passes", 2],
  ["kl", "KL from the start, nats", 1],
];

/** Three small charts beside or below each other, each on a scale of its own. */
function build(root, width, film) {
  const beside = width >= 520;
  const size = beside ? (width - 40) / 3 : width - 8;
  const tall = beside ? 104 : 84,
    room = tall + 48;
  const charts = CURVES.map(([key, title, digits], i) => {
    const left = beside ? i * (size + 20) : 4,
      top = beside ? 24 : 24 + i * room;
    const most = Math.max(...film.map((shot) => shot[key]), 1e-9);
    const x = (j) => left + 6 + (j / (film.length - 1)) * (size - 12);
    const y = (number) => top + tall - 6 - (number / most) * (tall - 12);
    const way = (shots) => `M${shots.map((shot, j) => `${x(j)} ${y(shot[key])}`).join("L")}`;
    const number = drawing("tspan", { "data-name": key, class: "cl-strong" });
    const past = drawing("path", { class: "cl-line", style: "stroke-width: 2.4" });
    root.append(
      drawing("rect", { class: "cl-axis", x: left, y: top, width: size, height: tall, rx: 6 }),
      drawing("path", { class: "cl-line", opacity: 0.25, d: way(film) }),
      past,
      drawing("text", { x: left + size / 2, y: top - 8 }, `${title} `, number),
    );
    const dot = part(root, drawing("circle", { r: 5, style: "fill: var(--second)" }), {
      x: x(0),
      y: y(film[0][key]),
    });
    return { key, digits, number, past, dot, x, y, way };
  });
  const pose = ({ step }, { jump }) =>
    charts.forEach(({ key, digits, number, past, dot, x, y, way }) => {
      write(number, film[step][key], digits);
      past.setAttribute("d", step ? way(film.slice(0, step + 1)) : "");
      dot.to({ x: x(step), y: y(film[step][key]) }, { jump, ms: 200 });
    });
  return { height: (beside ? 0 : 2 * room) + tall + 30, pose };
}

function render({ model, el }) {
  const { film } = model.get("data");
  const state = connect(model);
  const picture = stage(state, "Points, passes and distance", (root, width) =>
    build(root, width, film),
  );
  const answers = element("ul", {
    "data-name": "answers",
    style: "list-style: none; margin: 0.2rem 0 0; padding: 0",
  });
  const given = ({ step }) =>
    answers.replaceChildren(
      ...film[step].answers.map(({ request, words, points, passes }) =>
        element(
          "li",
          { style: "margin: 0.1rem 0" },
          element("b", {}, passes ? "✓ passes" : "✗ fails"),
          `, ${points} ${points === 1 ? "point" : "points"} (${request}): `,
          element("i", {}, words),
        ),
      ),
    );
  steady(
    state,
    answers,
    film.map((_, step) => ({ step })),
    given,
  );
  const caption = ({ step }) => {
    const { step: at, proxy, truth, kl } = film[step];
    const paid = `${format(proxy)} points on average`;
    return `After ${at} steps an answer is paid ${paid}, and ${format(100 * truth, 0)} % of the answers pass. The model is ${format(kl, 1)} nats from where it started.`;
  };
  const steps = film.map((shot) => ({ name: String(shot.step), caption }));
  const half = film.findIndex((shot) => shot.truth < film[0].truth / 2);
  const paidWrong = (shot) => shot.answers.some(({ points, passes }) => points >= 2 && !passes);
  const puzzles = [
    half > 0 && {
      text: "Find the first step shown at which fewer than half as many answers pass as at the start.",
      reached: ({ step }) => step === half,
    },
    film.slice(1).some(paidWrong) && {
      text: "Find an answer that fails and is paid two points or more, after training has begun.",
      reached: ({ step }) => step > 0 && paidWrong(film[step]),
    },
  ].filter(Boolean);
  frame(
    el,
    "Paid by the word",
    picture,
    stepper(state, { steps, pace: 1800 }),
    element("p", { class: "cl-score" }, "Four of its answers at this step:"),
    answers,
    puzzles.length ? goals(state, puzzles) : null,
  );
  return state.close;
}

export default { render };
