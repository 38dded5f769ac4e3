// Two sentences that differ in one word, read by the same recurrent network: what is left of the
// difference in its state, and in the average of all words, word by word; U can be made larger.

import { axes } from "../../page/kit/axes.js";
import { connect, remember, slider } from "../../page/kit/controls.js";
import { drawing, element, fill, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { html } from "../../page/kit/html.js";
import { recurrentStates } from "../../page/kit/networks.js";
import { clamp, norm } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";
import { group, label, stage } from "../../page/kit/stage.js";
import { stepper } from "../../page/kit/stepper.js";

const DECADES = 7; // of the logarithmic axis
const power = (exponent) => `10⁻${"⁰¹²³⁴⁵⁶⁷⁸⁹"[exponent]}`;

/** A share with two or three digits that count: 0.400, 0.00916, 1.3 · 10⁻⁶. */
function short(share) {
  const exponent = Math.ceil(-Math.log10(share));
  if (exponent < 5 || exponent > 9) return format(share, share < 0.01 ? 5 : 3);
  return `${format(share * 10 ** exponent, 1)} · ${power(exponent)}`;
}

/** How long the differences of states and of averages are, over their length right after the word at
    `place`, with every entry of U `size` times as large. */
function readings({ weights, words, vocabulary, other }, { place, size }) {
  const table = weights.vectors,
    scaled = weights["rnn.state.weight"].map((row) => row.map((x) => x * size)),
    network = { ...weights, "rnn.state.weight": scaled };
  const vector = (word) => table[vocabulary.indexOf(word)];
  const rows = words.map(vector),
    replaced = words.map((word, i) => vector(i === place ? other : word));
  const [own, changed] = [rows, replaced].map((read) => recurrentStates(network, "rnn", read));
  const minus = (a, b) => Array.from(a, (x, i) => x - b[i]);
  const between = own.map((state, t) => minus(state, changed[t]));
  const word = minus(rows[place], replaced[place]);
  const averages = words.map((_, t) => word.map((x) => (t < place ? 0 : x / (t + 1))));
  const left = (rows) => rows.map((row) => norm(row) / norm(rows[place]));
  return { left: left(between), mean: left(averages) };
}

function build(root, width, data, read, state) {
  const { words } = data,
    count = words.length;
  const left = 40,
    step = (width - left - 8) / (count - 1),
    top = 12,
    bottom = top + 184,
    x = (i) => left + i * step;
  const least = 10 ** -DECADES;
  const { y: up } = axes(
    root,
    { left, right: width, top, bottom },
    {
      x: { first: 0, last: count - 1 },
      y: {
        first: least,
        last: 10, // with a large U the difference can grow
        log: true,
        ticks: [0, 2, 4, 6].map((i) => 10 ** -i),
        text: (share) => (share < 1 ? power(Math.round(-Math.log10(share))) : "1"),
      },
    },
  );
  const y = (share) => up(clamp(share, least, 10));
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
      const low = y(shares[step]) > bottom - 22; // no room above the words
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
      now = read(value);
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
  const compute = remember((key) => readings(data, key));
  const read = ({ place, size }) => compute({ place, size });
  const picture = stage(state, "Two readings of a sentence", (root, width) =>
    build(root, width, data, read, state),
  );

  const caption = ({ place, step, size }) => {
    const { left, mean } = read({ place, size });
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
  const size = slider(state, "size", "every entry of U times", {
    min: 1,
    max: 3,
    step: 0.1,
    describe: (times) => format(times, 1),
  });
  const last = count - 1;
  const differsMore = ({ place, size }) => {
    const { left, mean } = read({ place, size });
    return left[last] > mean[last];
  };
  const puzzles = goals(state, [
    {
      text: `Leave U as it is. Replace a word of which about half is left in the state at “${words[last]}”.`,
      reached: ({ place, size }) => {
        const kept = read({ place, size }).left[last];
        return size === 1 && kept > 1 / 3 && kept < 2 / 3;
      },
    },
    {
      text: `“${words[1]}” again: at which smallest U do the two states differ more than the two averages?`,
      reached: ({ place, size }) =>
        place === 1 &&
        differsMore({ place, size }) &&
        !differsMore({ place, size: Math.round(10 * size - 1) / 10 }),
    },
  ]);
  frame(
    el,
    "What is left of a word",
    element("div", { class: "cl-controls" }, place, size),
    picture,
    stepper(state, {
      steps: words.map((name) => ({ name, caption })),
      pace: 900,
      others: words.map((_, place) => ({ place })), // longest where little is left
    }),
    puzzles,
  );
  return state.close;
}

export default { render };
