// The chapter's one-layer model: from the verb's vector alone it must name subject and object. Each
// head's row from the verb, and what the model answers when a head is switched off.

import { button, choice, connect, remember } from "../../page/kit/controls.js";
import { announce, element, frame, longestOf, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { linear, multiHead } from "../../page/kit/networks.js";
import { add, argmax, softmax } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";
import { columnHead, headRow, tableRow } from "../../page/kit/tables.js";

function run({ words, weights, num_heads: numHeads, residual, nouns }, value) {
  const ids = sentenceOf(value).map((word) => words.indexOf(word));
  const x = add(
    ids.map((id) => weights.embedding[id]),
    weights.positions,
  );
  const attended = multiHead(weights, "attention", x, x, numHeads, { on: value.on });
  const verb = (residual ? add(x, attended.output) : attended.output)[2];
  const answer = (name) => {
    const probabilities = softmax(linear(weights, name, [verb])[0]);
    const most = argmax(probabilities);
    return { word: nouns[most], probability: probabilities[most] };
  };
  return {
    rows: attended.weights.map((head) => head[2]),
    subject: answer("subject"),
    object: answer("object"),
  };
}

const sentenceOf = ({ subject, verb, object }) => ["the", subject, verb, "the", object];

function render({ model, el }) {
  const data = withWeights(model.get("data"));
  const state = connect(model);
  const result = remember((value) => run(data, value));

  const other = (key, mate) => ({
    change: (word, value) =>
      // the two nouns differ: the same one twice swaps them
      word === value[mate] ? { [key]: word, [mate]: value[key] } : { [key]: word },
  });
  const controls = element(
    "div",
    { class: "cl-controls" },
    choice(state, "subject", "who", data.nouns, other("subject", "object")),
    choice(state, "verb", "does", data.verbs),
    choice(state, "object", "to whom", data.nouns, other("object", "subject")),
    button(
      state,
      "Exchange the two nouns",
      ({ subject, object }) => ({ subject: object, object: subject }),
      { name: "exchange" },
    ),
  );

  const columns = Array.from({ length: 5 }, () => columnHead(""));
  state.draw((value) =>
    sentenceOf(value).forEach((word, i) => {
      columns[i].textContent = word;
    }),
  );
  const rows = Array.from({ length: data.num_heads }, (_, head) => {
    const box = element("input", { type: "checkbox", name: `head-${head}` });
    box.addEventListener("change", () =>
      state.set({ on: state.value.on.map((old, i) => (i === head ? box.checked : old)) }),
    );
    const cells = columns.map(() => element("td", { class: "cl-heat" }));
    const name = element("span");
    state.draw((value) => {
      box.checked = value.on[head];
      name.textContent = `head ${head + 1}`;
      name.className = value.on[head] ? "" : "cl-off";
      const row = result(value).rows[head],
        most = argmax(row);
      row.forEach((weight, j) => {
        write(cells[j], weight);
        cells[j].style.setProperty("--w", value.on[head] ? weight : 0);
        cells[j].style.fontWeight = j === most ? 700 : 400;
        cells[j].style.opacity = value.on[head] ? 1 : 0.45;
      });
    });
    return tableRow(element("label", { class: "cl-control cl-inline" }, box, name), cells);
  });
  const table = element(
    "div",
    { class: "cl-scroll" },
    element(
      "table",
      { "data-name": "rows" },
      element("caption", {}, "Weights from the verb to every word"),
      headRow(element("td"), columns),
      element("tbody", {}, rows),
    ),
  );

  const answer = (name, question) => {
    const word = element("b"),
      number = element("span", { "data-name": name }),
      mark = element("span");
    state.draw((value) => {
      const found = result(value)[name];
      word.textContent = found.word;
      write(number, found.probability, 3);
      mark.textContent =
        found.word === value[name] ? "\u2713 right" : `\u2717 not “${value[name]}”`;
    });
    return tableRow(
      question,
      element("td", { style: "text-align: left" }, word),
      element("td", {}, number),
      element("td", { style: "text-align: left" }, mark),
    );
  };
  const answers = element(
    "table",
    { style: "margin-top: 1rem" },
    element("caption", {}, "What the verb’s vector says"),
    element("tbody", {}, answer("subject", "who does it?"), answer("object", "to whom?")),
  );

  const tell = (value, { subject, object }) => {
    const off = value.on.flatMap((on, i) => (on ? [] : [i + 1]));
    const heads = off.length === 0 ? "With all heads" : `Without head ${off.join(" and ")}`;
    return `“${sentenceOf(value).join(" ")}”. ${heads}: “${subject.word}” does it to “${object.word}”.`;
  };
  const [noun, verb] = [data.nouns, data.verbs].map(longestOf);
  const most = { subject: noun, verb, object: noun, on: state.value.on.map(() => false) };
  const room = tell(most, { subject: { word: noun }, object: { word: noun } });
  const say = announce(state, (value) => tell(value, result(value)), [room]);
  const right = (value, name) => result(value)[name].word === value[name];
  const puzzles = goals(state, [
    {
      text: "Switch heads off until “who does it?” is wrong and “to whom?” is still right.",
      reached: (value) => !right(value, "subject") && right(value, "object"),
    },
    {
      text: "The other way round: lose “to whom?” and keep “who does it?”.",
      reached: (value) => right(value, "subject") && !right(value, "object"),
    },
    {
      text: "Leave one head on, and let it answer one of the questions right by itself.",
      reached: (value) =>
        value.on.filter(Boolean).length === 1 &&
        (right(value, "subject") || right(value, "object")),
    },
  ]);
  frame(el, "Heads side by side", controls, table, answers, say, puzzles);
  return state.close;
}

export default { render };
