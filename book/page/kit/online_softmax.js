// @ts-check
// A softmax that meets its scores in pieces.

import { dot } from "./numerics.js";

/** What an online softmax holds before the first key: see runningSoftmax. */
export const NOTHING_HELD = { largest: -Infinity, total: 0, blend: 0, rescale: NaN };

/** One step of an online softmax, as in companion.kernels.tiled_forward: what is held of a row after
    these scores and their values, one number each. `rescale` is what was multiplied into the rest. */
export function runningSoftmax(held, scores, values) {
  const largest = Math.max(held.largest, ...scores);
  if (largest === -Infinity) return held; // nothing to attend to yet
  const rescale = Math.exp(held.largest - largest);
  const weights = scores.map((score) => Math.exp(score - largest));
  const total = held.total * rescale + weights.reduce((a, b) => a + b, 0);
  const blend = held.blend * rescale + dot(weights, values);
  return { largest, total, blend, rescale };
}
