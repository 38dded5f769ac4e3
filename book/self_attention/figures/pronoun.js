// Two trained models for “it”, running here: change a word, or forbid one to be looked at.

import { arcs } from "../../page/kit/arcs.js";
import { button, choice, connect, remember, tabs } from "../../page/kit/controls.js";
import { announce, css, element, format, frame, longestOf } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { multiHead, tiedLogits } from "../../page/kit/networks.js";
import { add, argmax, descending, softmax } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";

css`
  .cl-models .cl-tabs {
    margin: 0;
  }
`;

/** What a model computes at “it”: where its second round looks, and which nouns it names. */
function run({ words, answers, window }, { weights, board }, sentence, forbidden) {
  const ids = sentence.map((word) => words.indexOf(word)),
    it = sentence.indexOf("it");
  const bare = add(
    ids.map((id) => weights.embedding[id]),
    weights.positions,
  );
  const near = (i, j) => Math.abs(i - j) <= window;
  const clues = add(bare, multiHead(weights, "gather", bare, bare, 1, { allowed: near }).output);
  const read = board === "words" ? bare : clues;
  const may = (i, j) => !forbidden.includes(j);
  const found = multiHead(weights, "look_up", clues, read, 1, { allowed: may });
  const table = answers.map((word) => weights.embedding[words.indexOf(word)]);
  const probabilities = softmax(tiedLogits(table, add(clues, found.output)[it]));
  const best = descending(probabilities).map((i) => [answers[i], probabilities[i]]);
  return { it, look: found.weights[0][it], best };
}

function render({ model, el }) {
  const data = model.get("data");
  const { nouns, adjectives, templates, verbs } = data;
  const models = Object.fromEntries(
    Object.entries(data.models).map(([name, one]) => [name, withWeights(one)]),
  );
  const state = connect(model);
  const kindOf = (other) => Object.keys(nouns).find((kind) => nouns[kind].includes(other));
  const isAnimals = ({ adjective }) => adjectives.animal.includes(adjective);
  const sentenceOf = (value) => {
    const [verb, participle] = verbs[kindOf(value.other)];
    const filled = { ...value, verb, participle };
    return templates[value.template].replace(/\{(\w+)\}/g, (_, slot) => filled[slot]).split(" ");
  };
  const seen = remember((value) => {
    const sentence = sentenceOf(value);
    const { it, look, best } = run(data, models[value.model], sentence, value.forbidden);
    const at = { animal: sentence.indexOf(value.animal), other: sentence.indexOf(value.other) };
    const [right, wrong] = isAnimals(value) ? ["animal", "other"] : ["other", "animal"];
    return { sentence, it, look, best, right: at[right], wrong: at[wrong], at };
  });

  // An adjective follows the noun that it fits: one of another class is replaced by the first that does.
  const fitting = (value) => {
    const kind = kindOf(value.other);
    const fits = isAnimals(value) || adjectives[kind].includes(value.adjective);
    return { ...value, adjective: fits ? value.adjective : adjectives[kind][0] };
  };
  const swapped = (value) => adjectives[isAnimals(value) ? kindOf(value.other) : "animal"][0];
  const swap = button(state, "", (value) => ({ adjective: swapped(value) }), {
    name: "swap",
    class: "cl-main",
    draw: (node, value) => {
      node.textContent = `Change “${value.adjective}” to “${swapped(value)}”`;
    },
  });
  const free = button(state, "Allow all words", () => ({ forbidden: [] }), {
    name: "free",
    draw: (node, { forbidden }) => {
      node.disabled = forbidden.length === 0;
    },
  });
  const others = Object.entries(nouns).filter(([kind]) => kind !== "animal");
  const controls = element(
    "div",
    { class: "cl-controls" },
    choice(state, "animal", "animal", nouns.animal),
    choice(
      state,
      "other",
      "other noun",
      others.map(([kind, options]) => ({ group: `${kind}s`, options })),
      { change: (other, value) => fitting({ ...value, other }) },
    ),
    choice(state, "adjective", "it was too …", (value) => [
      { group: "fits an animal", options: adjectives.animal },
      { group: `fits a ${kindOf(value.other)}`, options: adjectives[kindOf(value.other)] },
    ]),
    choice(
      state,
      "template",
      "sentence",
      (value) => templates.map((_, i) => [i, sentenceOf({ ...value, template: i }).join(" ")]),
      { change: (template) => ({ template, forbidden: [] }) },
    ),
  );
  for (const { lastChild: select } of controls.children) {
    select.style.width = select.name === "template" ? "100%" : "9rem";
  }
  const sentence = arcs(
    state,
    (value) => {
      const { sentence, it, look } = seen(value);
      return { words: sentence, from: it, weights: look, out: value.forbidden };
    },
    (word) => {
      const { forbidden } = state.value;
      const rest = forbidden.filter((other) => other !== word);
      const next = rest.length < forbidden.length ? rest : [...forbidden, word];
      if (next.length < seen(state.value).sentence.length) state.set({ forbidden: next });
    },
    others.flatMap(([kind, list]) =>
      templates.map((_, template) => ({
        ...state.value,
        template,
        animal: longestOf(nouns.animal),
        other: longestOf(list),
        adjective: longestOf(adjectives[kind]),
      })),
    ),
  );
  const tell = (name, most, weight, [answer, probability], right) =>
    `The ${name} looks most at “${most}” (${format(weight)}). ` +
    `Asked what “it” is, it says “${answer}” (${format(probability)}), ` +
    (answer === right ? "which is right." : `which is wrong: it is “${right}”.`);
  const [noun, other] = Object.values(nouns).map(longestOf);
  const say = announce(
    state,
    (value) => {
      const { sentence, look, best, right } = seen(value),
        most = argmax(look);
      return tell(value.model, sentence[most], look[most], best[0], sentence[right]);
    },
    [tell("detective", noun, 1, [noun, 1], other), tell("detective", other, 1, [other, 1], noun)],
  );
  const isRight = ({ sentence, best, right }) => best[0][0] === sentence[right];
  const puzzles = goals(state, [
    {
      text: "Change one word so that “it” puts more than .9 on the other noun.",
      reached(value) {
        const { look, at } = seen(value);
        return look[at.other] > 0.9;
      },
    },
    {
      text: "Forbid the twin the right noun (click it): the answer stays right.",
      reached: (value) =>
        value.model === "twin" &&
        value.forbidden.includes(seen(value).right) &&
        isRight(seen(value)),
    },
    {
      text: "Forbid the twin more words, until its answer is wrong.",
      reached: (value) =>
        value.model === "twin" && value.forbidden.length > 1 && !isRight(seen(value)),
    },
  ]);
  frame(
    el,
    "The trained models for “it”: click a word, and nobody may look at it",
    element(
      "div",
      { class: "cl-controls cl-models" },
      tabs(state, "model", "model", Object.keys(models)),
      swap,
      free,
    ),
    controls,
    sentence,
    say,
    puzzles,
  );
  return state.close;
}

export default { render };
