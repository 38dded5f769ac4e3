// Two sentences that differ in one word, read by the same recurrent network: what is left of the
// difference in its state, and in the average of all words, word by word.

import { axes } from "../../page/kit/axes.js";
import { ribbon } from "../../page/kit/cells.js";
import { connect, remember, slider } from "../../page/kit/controls.js";
import { drawing, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { html } from "../../page/kit/html.js";
import { recurrentStates } from "../../page/kit/networks.js";
import { clamp, norm } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";
import { group, label, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

const DECADES = 6; // of the logarithmic axis
const LANES = [
  ["own", "state, original sentence"],
  ["other", "state, one word replaced"],
  ["between", "difference of the states"],
  ["averages", "difference of the averages"],
];

const power = (exponent) => `10⁻${"⁰¹²³⁴⁵⁶⁷⁸⁹"[exponent]}`;

/** A share with two or three digits that count: 0.400, 0.00916, 1.3 · 10⁻⁶. */
function short(share) {
  const exponent = Math.ceil(-Math.log10(share));
  if (exponent < 5 || exponent > 9) return format(share, share < 0.01 ? 5 : 3);
  return `${format(share * 10 ** exponent, 1)} · ${power(exponent)}`;
}

/** The states in both readings, the differences of states and of averages, and how long these are
    over their length right after the word at `place`. */
function readings({ weights, words, vocabulary, other }, place) {
  const table = weights.vectors;
  const vector = (word) => table[vocabulary.indexOf(word)];
  const rows = words.map(vector),
    replaced = words.map((word, i) => vector(i === place ? other : word));
  const [own, changed] = [rows, replaced].map((read) => recurrentStates(weights, "rnn", read));
  const minus = (a, b) => Array.from(a, (x, i) => x - b[i]);
  const between = own.map((state, t) => minus(state, changed[t]));
  const word = minus(rows[place], replaced[place]);
  const averages = words.map((_, t) => word.map((x) => (t < place ? 0 : x / (t + 1))));
  const left = (rows) => rows.map((row) => norm(row) / norm(rows[place]));
  return { own, other: changed, between, averages, left: left(between), mean: left(averages) };
}

function build(root, width, data, read, state) {
  const { words } = data,
    count = words.length,
    sizes = { state: data.weights["rnn.state.bias"].length, word: data.weights.vectors[0].length };
  const lane = 38,
    left = 40,
    step = (width - left - 8) / (count - 1),
    top = LANES.length * lane + 14,
    bottom = top + 168,
    x = (i) => left + i * step;
  const lanes = LANES.map(([name, text], i) => {
    const [kind, size] = name === "averages" ? ["attention", sizes.word] : ["stream", sizes.state];
    const look = { cell: width / size, height: 13, name, first: { y: i * lane + 17 } };
    root.append(label(text, 0, i * lane + 12, "cl-start cl-quiet"));
    return [name, ribbon(root, size, kind, look)];
  });
  const least = 10 ** -DECADES;
  const { y: up } = axes(
    root,
    { left, right: width, top, bottom },
    {
      x: { first: 0, last: count - 1 },
      y: {
        first: least,
        last: 1,
        log: true,
        ticks: [0, 2, 4, 6].map((i) => 10 ** -i),
        text: (share) => (share < 1 ? power(Math.round(-Math.log10(share))) : "1"),
      },
    },
  );
  const y = (share) => up(clamp(share, least, 1));
  const curve = (kind, name) => {
    const all = drawing("path", { class: "cl-edge", opacity: 0.35 }),
      passed = drawing("path", { class: "cl-edge", style: "stroke-width: 3" });
    const dot = drawing("circle", { class: "cl-tip", r: 5 });
    const under = name === "left" ? 21 : -9;
    const number = fill(label("", 0, under, "cl-own cl-strong cl-over"), { "data-name": name }, []);
    root.append(drawing("g", { class: `cl-${kind}` }, all, passed));
    const moving = group(root, {}, drawing("g", { class: `cl-${kind}` }, dot, number));
    return (shares, { place, step }, move) => {
      const points = shares.map((share, i) => `${x(i)} ${y(share)}`);
      const line = (to) => (to > place ? `M${points.slice(place, to + 1).join("L")}` : "");
      all.setAttribute("d", line(count - 1));
      passed.setAttribute("d", line(step));
      write(number, shares[step]);
      number.textContent = short(shares[step]);
      const low = y(shares[step]) > bottom - 24; // no room above the words
      number.setAttribute("y", low ? -10 : under);
      const late = step > count - 4;
      number.setAttribute("class", `cl-own cl-strong cl-over ${late ? "cl-end" : "cl-start"}`);
      moving.to({ x: x(step), y: y(shares[step]), o: step < place ? 0 : 1 }, move);
    };
  };
  const curves = { mean: curve("attention", "mean"), left: curve("stream", "left") };
  const names = words.map((word, i) => {
    const text = label(word, 0, 0, "cl-end");
    text.setAttribute("transform", `translate(${x(i) + 4} ${bottom + 14}) rotate(-60)`);
    root.append(text);
    return text;
  });
  words.forEach((_, i) => {
    const at = { x: x(i) - step / 2, y: bottom, width: step, height: 62 };
    const hit = drawing("rect", { class: "cl-hit", ...at }); // for the pointer; the slider is for all
    hit.addEventListener("click", () => state.set({ place: i, step: i }));
    root.append(hit);
  });

  function pose(value, move) {
    const { place, step } = value,
      now = read(place);
    for (const [name, strip] of lanes) {
      const differs = name === "between" || name === "averages";
      // a state's numbers lie between −1 and 1; a difference is seen against its first one
      const most = Math.max(...now[name][place].map(Math.abs));
      strip.set(now[name][step], (v) => (differs ? Math.abs(v) / most : (v + 1) / 2));
    }
    curves.mean(now.mean, value, move);
    curves.left(now.left, value, move);
    names.forEach((text, i) => {
      text.classList.toggle("cl-strong", i === place);
      text.style.opacity = i <= step ? 1 : 0.65;
    });
  }
  return { height: bottom + 70, pose };
}

function render({ model, el }) {
  const data = withWeights(model.get("data")),
    { words, other } = data,
    count = words.length;
  const state = connect(model);
  const read = remember((place) => readings(data, place));
  const picture = stage(state, "Two readings of a sentence", (root, width) =>
    build(root, width, data, read, state),
  );

  const caption = ({ place, step }) => {
    const { left, mean } = read(place);
    const word = `“${words[step]}”`;
    if (step < place) return `Both have read ${word}. Nothing differs yet.`;
    if (step === place)
      return `One has read ${word}, the other “${other}”. Call the difference 1, in the states and in the averages.`;
    const [kept, shared] = [left[step], mean[step]].map(short);
    const gone = step - place;
    return html`Both have read ${word}, ${gone} ${gone === 1 ? "word" : "words"} later: ${kept} of the difference is left in the <b class="cl-stream">state</b>, ${shared} in the <b class="cl-attention">average</b>.`;
  };
  const place = slider(state, "place", "the word that is replaced:", {
    min: 0,
    max: count - 1,
    describe: (i) => `${words[i]} by ${other}`,
  });
  const puzzles = goals(state, [
    {
      text: `Place “${other}” so that between a third and two thirds of the difference is left in the state at “${words[count - 1]}”.`,
      reached: ({ place }) => {
        const kept = read(place).left[count - 1];
        return kept > 1 / 3 && kept < 2 / 3;
      },
    },
    {
      text: "Step to the first word at which less than a hundredth is left in the state.",
      reached: ({ place, step }) => {
        const { left } = read(place);
        return step > place && left[step] < 0.01 && left[step - 1] >= 0.01;
      },
    },
  ]);
  frame(
    el,
    "What is left of a word",
    place,
    picture,
    stepper(state, {
      steps: words.map((name) => ({ name, caption })),
      pace: 900,
      others: words.map((_, place) => ({ place })),
    }),
    puzzles,
  );
  return state.close;
}

export default { render };
