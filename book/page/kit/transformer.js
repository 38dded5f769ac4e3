// @ts-check
// A companion.models.Transformer. `data` has its `weights`, `num_layers`, the options of a `block`, its `words`
// and ids.

import { decoderBlock, encoderBlocks, keysAndValues, tiedLogits } from "./networks.js";
import { add, argmax, softmax } from "./numerics.js";
import { sinusoid } from "./sinusoids.js";

/** Word vectors times the square root of d_model. */
export function embedTokens(weights, ids) {
  const table = weights["token_embedding.weight"];
  const root = Math.sqrt(table[0].length);
  return ids.map((id) => Array.from(table[id], (x) => x * root));
}

export const withPositions = (vectors) =>
  add(
    vectors,
    vectors.map((vector, position) => sinusoid(position, vector.length)),
  );

/** What encoderBlock returns of each block; the last output is the memory. */
export function encodeTokens({ weights, num_layers: numLayers, block }, ids) {
  const read = withPositions(embedTokens(weights, ids));
  return encoderBlocks(weights, "encoder_blocks", numLayers, read, block);
}

/** What decoderBlock returned for one place after the other, as it returns it for all at once: no word
    looks to its right. */
export function together(places) {
  const rows = (part) => places.map((place) => place[part][0]);
  const maps = (part) =>
    places.at(-1)[part].map((last, head) =>
      places.map((place) => {
        const shares = place[part][head][0];
        return [...shares, ...Array(last[0].length - shares.length).fill(0)];
      }),
    );
  return {
    ...Object.fromEntries(Object.keys(places[0]).map((part) => [part, rows(part)])),
    weights: maps("weights"),
    crossWeights: maps("crossWeights"),
  };
}

/** What a decoder holds before its first word: for every block its `name`, the keys and values of what
    it has read, none yet, and those of the memory. */
export const heldAtFirst = ({ weights, num_layers: numLayers }, memory) =>
  Array.from({ length: numLayers }, (_, i) => {
    const name = `decoder_blocks.${i}`;
    const crossed = keysAndValues(weights, `${name}.cross_attention`, memory);
    return { name, crossed, cache: { key: [], value: [] } };
  });

/** One more word for a decoder, which then holds it, too: what decoderBlock returns of each block for
    this place, and the `logits` of what follows. */
export function decodeNext({ weights, block }, held, id) {
  const [vector] = embedTokens(weights, [id]);
  let x = add([vector], [sinusoid(held[0].cache.key.length, vector.length)]);
  const blocks = held.map(({ name, crossed, cache }) => {
    const passed = decoderBlock(weights, name, x, crossed, { ...block, cache });
    x = passed.output;
    return passed;
  });
  return { blocks, logits: tiedLogits(weights["token_embedding.weight"], x[0]) };
}

/** The most probable word, then the most probable after it, until [EOS]; each place is read once. */
export function greedyTranslation(data, source) {
  const ids = source.map((word) => data.words.indexOf(word));
  const encoded = encodeTokens(data, ids);
  const memory = encoded.at(-1).output;
  const held = heldAtFirst(data, memory);
  const target = [data.bos_id],
    places = [];
  do {
    places.push(decodeNext(data, held, target.at(-1)));
    target.push(argmax(places.at(-1).logits));
  } while (target.at(-1) !== data.eos_id && target.length < data.longest_target);
  const logits = places.map((place) => place.logits);
  return {
    source,
    target: target.slice(1).map((id) => data.words[id]),
    ids,
    read: target.slice(0, -1), // what the decoder was given: [BOS], then its own words
    encoded,
    memory,
    decoded: held.map((_, i) => together(places.map(({ blocks }) => blocks[i]))),
    logits,
    probabilities: logits.map(softmax),
  };
}
