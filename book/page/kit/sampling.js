// @ts-check
// How the next word is drawn.

import { slider } from "./controls.js";
import { format } from "./dom.js";
import { descending, softmax } from "./numerics.js";

/** How the next word is drawn: temperature, and two cuts; a top-k of `noCut` leaves every word.
    @param {State} state
    @param {number} noCut */
export const drawingSliders = (state, noCut) => [
  slider(state, "temperature", "temperature", {
    min: 0,
    max: 2.5,
    step: 0.1,
    describe: (number) => (number ? format(number, 1) : "0, greedy"),
  }),
  slider(state, "top_k", "top-k", {
    min: 1,
    max: noCut,
    describe: (number) => (number < noCut ? `the best ${format(number, 0)}` : "no cut"),
  }),
  slider(state, "top_p", "top-p", {
    min: 0.05,
    max: 1,
    step: 0.05,
    describe: (number) => (number < 1 ? format(number) : "no cut"),
  }),
];

/** companion.generation.next_token_probabilities: before the cuts and after them, and the words in
    the order of their probability. A top_k of `noCut` keeps all.
    @param {number[]} logits
    @param {Value} how
    @param {number} noCut */
export function nextToken(logits, { temperature, top_k: topK, top_p: topP }, noCut) {
  const order = descending(logits);
  const best = logits[order[0]];
  const heated = temperature
    ? softmax(logits.map((logit) => (logit - best) / temperature))
    : logits.map((_, id) => Number(id === order[0]));
  const sum = (ids) => ids.reduce((total, id) => total + heated[id], 0);
  let kept = topK < noCut ? order.slice(0, topK) : order;
  const mass = sum(kept);
  let before = 0;
  kept = kept.filter((id) => {
    const inside = topP === 1 || before < topP;
    before += heated[id] / mass;
    return inside && heated[id] > 0;
  });
  const left = sum(kept),
    probabilities = logits.map(() => 0);
  for (const id of kept) probabilities[id] = heated[id] / left;
  return { order, heated, kept, probabilities };
}
