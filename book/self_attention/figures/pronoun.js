// The chapter's trained model for "it", running here: the reader changes a word, the row of "it" moves.

import { button, choice, connect, remember } from "../../page/kit/controls.js";
import { announce, element, format, frame, longestOf, steady, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { multiHead, tiedLogits } from "../../page/kit/networks.js";
import { add, argmax, descending, softmax } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";
import { answerList } from "../../page/kit/tables.js";
import { wordList } from "../../page/kit/word_list.js";

/** What the model computes for one sentence: { rows: {"round.head": weights of "it"}, answers }. */
function run({ words, weights, rounds, answers }, sentence) {
  const ids = sentence.map((word) => words.indexOf(word)),
    at = sentence.indexOf("it");
  const bare = add(
    ids.map((id) => weights.embedding[id]),
    weights.positions,
  );
  const rows = {};
  let x = bare;
  for (const { name, window, reads_words: readsWords, num_heads: numHeads } of rounds) {
    const allowed = (i, j) => window === null || Math.abs(i - j) <= window;
    const attended = multiHead(weights, name, x, readsWords ? bare : x, numHeads, { allowed });
    attended.weights.forEach((head, h) => {
      rows[`${name}.${h}`] = head[at];
    });
    x = add(x, attended.output);
  }
  const table = answers.map((word) => weights.embedding[words.indexOf(word)]);
  const probabilities = softmax(tiedLogits(table, x[at]));
  return { rows, answers: descending(probabilities).map((i) => [answers[i], probabilities[i]]) };
}

function sentenceOf({ templates, verbs, nouns }, value) {
  const kind = Object.keys(nouns).find((kind) => nouns[kind].includes(value.other));
  const filled = { ...value, participle: verbs[kind][value.verb] };
  return templates[value.template].replace(/\{(\w+)\}/g, (_, slot) => filled[slot]).split(" ");
}

function render({ model, el }) {
  const data = withWeights(model.get("data"));
  const { nouns, verbs, adjectives, templates } = data;
  const state = connect(model);
  const kindOf = (other) => Object.keys(nouns).find((kind) => nouns[kind].includes(other));

  /** Verb and adjective follow the noun: those of another class are replaced by the first that fits. */
  const fitting = (value) => {
    const kind = kindOf(value.other),
      offered = [...adjectives.animal, ...adjectives[kind]];
    return {
      ...value,
      verb: value.verb in verbs[kind] ? value.verb : Object.keys(verbs[kind])[0],
      adjective: offered.includes(value.adjective) ? value.adjective : adjectives[kind][0],
    };
  };
  const isAnimals = (value) => adjectives.animal.includes(value.adjective);

  const swapped = (value) => adjectives[isAnimals(value) ? kindOf(value.other) : "animal"][0];
  const swap = button(state, "", (value) => ({ adjective: swapped(value) }), {
    name: "swap",
    class: "cl-main",
    draw: (node, value) => {
      node.textContent = `Change “${value.adjective}” to “${swapped(value)}”`;
    },
  });

  const heads = data.rounds.flatMap(({ name, title, num_heads: numHeads }) =>
    Array.from({ length: numHeads }, (_, h) => [
      `${name}.${h}`,
      numHeads === 1 ? title : `${title}, head ${h + 1}`,
    ]),
  );
  const usesVerb = (value) => /\{(verb|participle)\}/.test(templates[value.template]);
  const adjective = element(
    "div",
    { class: "cl-controls" },
    choice(state, "adjective", "it was too …", (value) => [
      { group: "fits an animal", options: adjectives.animal },
      { group: `fits a ${kindOf(value.other)}`, options: adjectives[kindOf(value.other)] },
    ]),
    swap,
  );
  const controls = element(
    "div",
    { class: "cl-controls" },
    choice(state, "animal", "animal", nouns.animal),
    choice(
      state,
      "other",
      "other noun",
      Object.entries(nouns)
        .filter(([kind]) => kind !== "animal")
        .map(([kind, options]) => ({ group: `${kind}s`, options })),
      { change: (other, value) => fitting({ ...value, other }) },
    ),
    choice(state, "verb", "verb", (value) => Object.keys(verbs[kindOf(value.other)]), {
      disabled: (value) => !usesVerb(value),
    }),
    choice(state, "head", "attention", heads),
    choice(state, "template", "sentence", (value) =>
      templates.map((_, i) => [i, sentenceOf(data, { ...value, template: i }).join(" ")]),
    ),
  );

  const result = remember((value) => {
    const sentence = sentenceOf(data, value);
    return { sentence, ...run(data, sentence) };
  });

  const words = wordList({
    "aria-label": "the sentence, with the weight that “it” gives to every word",
  });
  const chips = data.weights.positions.map(() => {
    const bar = element("i"),
      word = element("span", { class: "cl-word" }),
      number = element("span", { class: "cl-number" });
    return {
      bar,
      word,
      number,
      item: element(
        "li",
        {},
        element("span", { class: "cl-bar", "aria-hidden": "true" }, bar),
        word,
        number,
      ),
    };
  });
  words.style.alignContent = "start";
  // The widest sentence of every template, in letters, gives the room.
  const wide = { ...state.value, animal: longestOf(nouns.animal) };
  const others = Object.entries(nouns).filter(([kind]) => kind !== "animal");
  const every = others.flatMap(([kind, list]) =>
    templates.map((_, template) => ({
      ...wide,
      template,
      other: longestOf(list),
      verb: longestOf(Object.keys(verbs[kind])),
      adjective: longestOf([...adjectives.animal, ...adjectives[kind]]),
    })),
  );
  steady(state, words, every, (value) => {
    const { sentence, rows } = result(value),
      row = rows[value.head],
      most = argmax(row);
    sentence.forEach((text, i) => {
      const { bar, word, number, item } = chips[i];
      word.textContent = text;
      write(number, row[i]);
      bar.style.setProperty("--w", row[i]);
      item.className = [text === "it" ? "cl-from" : "", i === most ? "cl-most" : ""].join(" ");
    });
    words.replaceChildren(...chips.slice(0, sentence.length).map(({ item }) => item));
  });

  const answers = answerList(state, "answers", (value) =>
    result(value)
      .answers.slice(0, 3)
      .map(([word, probability]) => [word, probability, { word }]),
  );

  const tell = (adjective, most, weight, [answer, probability]) =>
    `“… too ${adjective}”: the row of “it” is largest at “${most}” (${format(weight)}). ` +
    `Asked which noun “it” is, the model says “${answer}” (${format(probability)}).`;
  const told = (value) => {
    const { sentence, rows, answers } = result(value),
      row = rows[value.head],
      most = argmax(row);
    return tell(value.adjective, sentence[most], row[most], answers[0]);
  };
  const noun = longestOf(Object.values(nouns).flat());
  const room = tell(longestOf(Object.values(adjectives).flat()), noun, 1, [noun, 1]);
  const say = announce(state, told, [room]);
  const look = (value) => {
    const { sentence, rows } = result(value);
    const [animal, other] = [value.animal, value.other].map((noun) => sentence.indexOf(noun));
    return { row: rows[value.head], animal, other };
  };
  const puzzles = goals(state, [
    {
      text: "Change one word, and “it” gives more than .9 to the noun that is no animal.",
      reached(value) {
        const { row, other } = look(value);
        return row[other] > 0.9;
      },
    },
    {
      text: "Let the animal come second, and “it” still gives it more than .9.",
      reached(value) {
        const { row, animal, other } = look(value);
        return animal > other && row[animal] > 0.9;
      },
    },
  ]);
  for (const select of [...controls.children, adjective.firstChild].map((label) => label.lastChild))
    select.style.width = { template: "100%", head: "16.5rem" }[select.name] ?? "9rem"; // of any option
  frame(
    el,
    "The trained model for “it”",
    adjective,
    controls,
    words,
    element(
      "p",
      { style: "margin: .9rem 0 .3rem" },
      "The model’s answer at “it”, among this figure’s nouns:",
    ),
    answers,
    say,
    puzzles,
  );
  return state.close;
}

export default { render };
