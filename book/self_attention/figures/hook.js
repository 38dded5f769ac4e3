// One adjective changes, and the arcs of the trained model's “it” move to the other noun.

import { arcs } from "../../page/kit/arcs.js";
import { connect, tabs } from "../../page/kit/controls.js";
import { announce, format, frame } from "../../page/kit/dom.js";
import { argmax } from "../../page/kit/numerics.js";

function render({ model, el }) {
  const { pairs } = model.get("data");
  const state = connect(model);
  const chosen = ({ adjective }) => pairs.find((pair) => pair.adjective === adjective);
  const sentence = arcs(state, chosen);
  const adjectives = pairs.map(({ adjective }) => [adjective, adjective]);
  const say = announce(state, (value) => {
    const { words, weights } = chosen(value),
      most = argmax(weights);
    return `The trained model’s “it” takes ${format(weights[most])} of what it looks up from “${words[most]}”.`;
  });
  const swap = tabs(state, "adjective", "the last word", adjectives);
  frame(el, "What does “it” mean? Change the last word", swap, sentence, say);
  return state.close;
}

export default { render };
