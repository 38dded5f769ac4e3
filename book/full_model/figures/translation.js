// The chapter's trained Transformer, running here: it translates what the reader writes, word by word, and
// shows where each word of the translation looked in the sentence.

import { choice, connect, remember, slider } from "../../page/kit/controls.js";
import { announce, element, format, frame, write } from "../../page/kit/dom.js";
import { goals } from "../../page/kit/goals.js";
import { argmax, descending, meanOf } from "../../page/kit/numerics.js";
import { withWeights } from "../../page/kit/packed.js";
import { knownWords, textInput, untranslatable, wordsOf } from "../../page/kit/sentences.js";
import { answerList, headRow } from "../../page/kit/tables.js";
import { greedyTranslation } from "../../page/kit/transformer.js";
import { wordList } from "../../page/kit/word_list.js";

/** The cross-attention [place][source word] of one head, or the mean over the heads of a layer. */
function attentionOf(blocks, name) {
  const [layer, head] = name.split(".");
  const heads = blocks[Number(layer)].crossWeights;
  return head === "mean" ? meanOf(heads) : heads[Number(head)];
}

function render({ model, el }) {
  const data = withWeights(model.get("data"));
  const state = connect(model);
  const computed = remember((text) =>
    untranslatable(data, text) ? null : greedyTranslation(data, wordsOf(text)),
  );
  const result = (value) => computed(value.sentence);
  const place = (value) => Math.min(value.place, result(value).target.length) - 1;
  const shown = (value) => attentionOf(result(value).decoded, value.attention);

  const typed = textInput(state, "sentence", {
    name: "typed",
    lang: "en",
    style: "width: 100%",
    complaint: (text) => untranslatable(data, text),
    change: (sentence) => ({ sentence, place: 1 }),
  });
  const heads = Array.from({ length: data.num_layers }, (_, layer) => ({
    group: `block ${layer + 1}`,
    options: [
      [`${layer}.mean`, `block ${layer + 1}, mean`],
      ...Array.from({ length: data.block.numHeads }, (_, head) => [
        `${layer}.${head}`,
        `block ${layer + 1}, head ${head + 1}`,
      ]),
    ],
  }));
  const examples = (value) => {
    const own = data.examples.includes(value.sentence) ? [] : [[value.sentence, "your own"]];
    return [...own, ...data.examples];
  };
  const steps = slider(state, "place", "word of the translation", {
    min: 1,
    max: (value) => result(value)?.target.length ?? 2,
    disabled: (value) => result(value) === null,
    describe: (number, value) =>
      result(value) === null ? "–" : `${place(value) + 1}: ${result(value).target[place(value)]}`,
  });

  const words = wordList({ "aria-label": "the translation, word by word" });
  const answers = answerList(state, "answers", (value) => {
    if (result(value) === null) return [];
    const { logits, probabilities } = result(value),
      at = place(value);
    return descending(probabilities[at])
      .slice(0, 3)
      .map((id) => [
        element("span", { lang: "fr" }, data.words[id]),
        probabilities[at][id],
        { id, logit: logits[at][id] },
      ]);
  });
  const map = element("table", { "data-name": "cross", style: "font-size: .8rem" });
  const weights = element(
    "div",
    // it scrolls on a phone and for a long sentence, by the keyboard too
    {
      class: "cl-scroll",
      style: "flex: 1 1 23rem; min-width: 0",
      tabindex: 0,
      role: "group",
      "aria-label": "weights",
    },
    map,
  );
  const candidates = element(
    "div",
    {},
    element("p", { style: "margin: 0 0 .3rem" }, "Best candidates for this word:"),
    answers,
  );

  state.draw((value) => {
    for (const part of [words, weights, candidates]) part.hidden = result(value) === null;
    if (weights.hidden) return;
    const { source, target, probabilities } = result(value),
      at = place(value),
      rows = shown(value);

    words.replaceChildren(
      ...target.map((text, i) =>
        element(
          "li",
          { class: i === at ? "cl-from cl-most" : "" },
          element("span", { class: "cl-word", lang: "fr" }, text),
          write(
            element("span", { class: "cl-number" }),
            probabilities[i][data.words.indexOf(text)],
          ),
        ),
      ),
    );

    const upright = "writing-mode: vertical-rl; transform: rotate(180deg); padding: .2rem .1rem";
    map.replaceChildren(
      element("caption", {}, "where each word (row) looked (column)"),
      headRow(
        element("td"),
        source.map((word) => element("th", { scope: "col", style: upright, lang: "en" }, word)),
      ),
      element(
        "tbody",
        {},
        target.map((word, i) => {
          const most = Math.max(...rows[i]);
          const bold = (yes) => (yes ? "; font-weight: 700" : "");
          return element(
            "tr",
            {},
            element("th", { scope: "row", lang: "fr", style: bold(i === at) }, word),
            rows[i].map((weight) => {
              const style = `padding: .02rem .15rem${bold(weight === most)}`;
              const cell = write(element("td", { class: "cl-heat", style }), weight);
              cell.style.setProperty("--w", weight);
              return cell;
            }),
          );
        }),
      ),
    );
  });

  const tell = (value) => {
    if (result(value) === null) return "No translation: the sentence cannot be read.";
    const { source, target, probabilities } = result(value),
      at = place(value),
      row = shown(value)[at];
    const most = argmax(row);
    const probability = probabilities[at][data.words.indexOf(target[at])];
    return (
      `“${source.join(" ")}” becomes “${target.filter((word) => word !== "[EOS]").join(" ")}”. ` +
      `Word ${at + 1}, “${target[at]}”, has probability ${format(probability)}; ` +
      `it looked most at “${source[most]}” (${format(row[most])}).` +
      (source.length > data.trained_length
        ? ` The sentence is longer than any that the model was trained on (${data.trained_length} words).`
        : "")
    );
  };
  const say = announce(state, tell, [tell(state.value)]);
  const looksAt = (value, at) => argmax(shown(value)[at]);
  const puzzles = goals(state, [
    {
      text: "Find a word that looks further to the left than the word before it.",
      reached(value) {
        if (result(value) === null) return false;
        const at = place(value);
        return at > 0 && looksAt(value, at) < looksAt(value, at - 1);
      },
    },
    {
      text: `Translate more than ${data.trained_length} words, and go to the word that the model is least sure of.`,
      reached(value) {
        if (result(value) === null || result(value).source.length <= data.trained_length)
          return false;
        const best = result(value).probabilities.map((row) => Math.max(...row));
        return place(value) === argmax(best.map((share) => -share));
      },
    },
  ]);

  const example = choice(state, "sentence", "or take one of these", examples, {
    change: (sentence) => ({ sentence, place: 1 }),
  });
  example.querySelector("select").style.width = "13rem"; // beside the two others
  frame(
    el,
    "The trained translator",
    element(
      "label",
      { class: "cl-control", style: "margin-bottom: .5rem" },
      "write a sentence in English",
      typed.input,
    ),
    typed.alert,
    element(
      "div",
      { class: "cl-controls", style: "margin-top: .7rem" },
      example,
      choice(state, "attention", "attention", heads),
      steps,
    ),
    words,
    element(
      "div",
      { class: "cl-side", style: "margin-top: .5rem" },
      weights,
      element("div", { style: "flex: 1 1 15rem; min-width: 0" }, candidates, say, knownWords(data)),
    ),
    puzzles,
  );
  return state.close;
}

export default { render };
