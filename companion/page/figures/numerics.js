// What the figures compute, each function held to PyTorch. A matrix is an array of rows.

export const dot = (a, b) => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
};
export const transpose = (matrix) => Array.from(matrix[0], (_, j) => matrix.map((row) => row[j]));
export const matmul = (a, b) => {
  const columns = transpose(b);
  return a.map((row) => columns.map((column) => dot(row, column)));
};
export const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
export const norm = (vector) => Math.sqrt(dot(vector, vector));
export const argmax = (row) => row.indexOf(Math.max(...row));
/** The places of a row's numbers, the largest first. */
export const descending = (row) => Array.from(row.keys()).sort((a, b) => row[b] - row[a]);
/** The mean of matrices, such as the weights [head][query][key] over the heads. */
export const meanOf = (matrices) =>
  matrices[0].map((row, i) =>
    row.map((_, j) => matrices.reduce((sum, matrix) => sum + matrix[i][j], 0) / matrices.length),
  );
export const add = (a, b) => a.map((row, i) => Array.from(row, (x, j) => x + b[i][j]));

/** A row of -Infinity (nothing may be attended to) gives zeros, as in companion.nn. */
export function softmax(row) {
  const most = Math.max(...row);
  if (most === -Infinity) return row.map(() => 0);
  const parts = row.map((x) => Math.exp(x - most));
  const sum = parts.reduce((a, b) => a + b, 0);
  return parts.map((x) => x / sum);
}

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

/** Numbers from companion.page.live.packed: a row, or a matrix as an array of rows. */
export function unpack({ shape, float16 }) {
  const bytes = Uint8Array.from(atob(float16), (character) => character.charCodeAt(0));
  const halves = new DataView(bytes.buffer);
  const numbers = new Float64Array(bytes.length / 2);
  for (let i = 0; i < numbers.length; i++) {
    const bits = halves.getUint16(2 * i, true);
    const exponent = (bits >> 10) & 31,
      fraction = bits & 1023;
    const size = exponent
      ? 2 ** (exponent - 15) * (1 + fraction / 1024)
      : 2 ** -14 * (fraction / 1024);
    numbers[i] = bits & 0x8000 ? -size : size;
  }
  if (shape.length === 1) return numbers;
  return Array.from({ length: shape[0] }, (_, i) =>
    numbers.subarray(i * shape[1], (i + 1) * shape[1]),
  );
}

/** Attention weights from companion.page.weights.packed_maps: [map][query][key], no key after its query. */
export function unpackMaps({ count, length, uint8 }) {
  const bytes = Uint8Array.from(atob(uint8), (character) => character.charCodeAt(0));
  let at = 0;
  return Array.from({ length: count }, () =>
    Array.from({ length }, (_, i) =>
      Array.from(bytes.subarray(at, (at += i + 1)), (byte) => byte / 255),
    ),
  );
}

/** The mean weight that the queries from `first` on give to the key that is `back` before them. */
export function meanBack(map, back, first) {
  const rows = map.slice(first);
  return rows.reduce((sum, row, i) => sum + row[first + i - back], 0) / rows.length;
}

/** {name: packed} -> {name: numbers}, the names of a PyTorch state dict. */
export const unpackAll = (weights) =>
  Object.fromEntries(Object.entries(weights).map(([name, packed]) => [name, unpack(packed)]));

/** The data of a figure, its weights unpacked. */
export const withWeights = (data) => ({ ...data, weights: unpackAll(data.weights) });

/** The angle of a pair of columns of companion.nn.sinusoidal_encoding, and of a RotaryEmbedding. */
export const angle = (position, pair, width, base = 10000) =>
  position / base ** ((2 * pair) / width);

/** A row of companion.nn.sinusoidal_encoding: sine in even columns, cosine in odd ones. */
export const sinusoid = (position, width) =>
  Array.from({ length: width }, (_, column) =>
    (column % 2 ? Math.cos : Math.sin)(angle(position, column >> 1, width)),
  );

/** Logits of a vector by an output matrix that is the table of the word vectors. */
export const tiedLogits = (table, vector) =>
  linear({ "table.weight": table }, "table", [vector])[0];

/** torch.nn.Linear with the weights `name`.weight and, where there is one, `name`.bias. */
export function linear(weights, name, rows) {
  const matrix = weights[`${name}.weight`],
    bias = weights[`${name}.bias`];
  return rows.map((row) => {
    const x = new Float64Array(row); // as the weights are: with one type of array the loop is fast
    return matrix.map((w, i) => {
      let sum = bias ? bias[i] : 0;
      for (let j = 0; j < x.length; j++) sum += x[j] * w[j];
      return sum;
    });
  });
}

/** What a companion.nn.MultiHeadAttention holds of the rows that it attends to. */
const keysAndValues = (weights, name, rows) => ({
  key: linear(weights, `${name}.k_proj`, rows),
  value: linear(weights, `${name}.v_proj`, rows),
});

/** companion.nn.MultiHeadAttention: queries from `rows`, keys and values from `memory`, its rows or what
    keysAndValues made of them.
    allowed(i, j) says what may be attended to; a head whose `on` is false contributes nothing.
    Returns { output, weights: [head][query][key] }. */
export function multiHead(
  weights,
  name,
  rows,
  memory,
  numHeads,
  { allowed = () => true, on = [] } = {},
) {
  const query = linear(weights, `${name}.q_proj`, rows);
  const { key, value } = Array.isArray(memory) ? keysAndValues(weights, name, memory) : memory;
  const of = (matrix, head) => {
    const width = matrix[0].length / numHeads;
    return matrix.map((row) => row.slice(head * width, (head + 1) * width));
  };
  const merged = rows.map(() => []),
    all = [];
  for (let head = 0; head < numHeads; head++) {
    const q = of(query, head),
      k = of(key, head),
      v = of(value, head);
    const attention = q.map((qi, i) =>
      softmax(k.map((kj, j) => (allowed(i, j) ? dot(qi, kj) / Math.sqrt(qi.length) : -Infinity))),
    );
    all.push(attention);
    matmul(attention, v).forEach((row, i) =>
      merged[i].push(...(on[head] === false ? row.map(() => 0) : row)),
    );
  }
  return { output: linear(weights, `${name}.out_proj`, merged), weights: all };
}

/** torch.nn.LayerNorm with the weights `name`.weight and, where there is one, `name`.bias. */
export function layerNorm(weights, name, rows, eps = 1e-5) {
  const scale = weights[`${name}.weight`],
    bias = weights[`${name}.bias`];
  return rows.map((row) => {
    const mean = row.reduce((a, b) => a + b, 0) / row.length;
    const centred = Array.from(row, (x) => x - mean);
    const deviation = Math.sqrt(dot(centred, centred) / row.length + eps);
    return centred.map((x, i) => (x / deviation) * scale[i] + (bias ? bias[i] : 0));
  });
}

/** The error function by its series of positive terms, to the last digits of a double. */
function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x,
    sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** The names of companion.nn.FeedForward. */
export const ACTIVATIONS = {
  relu: (x) => Math.max(x, 0),
  gelu: (x) => 0.5 * x * (1 + erf(x / Math.SQRT2)),
  gelu_tanh: (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))),
};

/** companion.nn.FeedForward, without a gate. */
export function feedForward(weights, name, rows, activation = "relu") {
  const hidden = linear(weights, `${name}.up_proj`, rows).map((row) =>
    row.map(ACTIVATIONS[activation]),
  );
  return linear(weights, `${name}.down_proj`, hidden);
}

/** The norms of a block, before its sub-layers or after the sums. */
export function norms(weights, name, normFirst, eps) {
  const normed = (number, x) => layerNorm(weights, `${name}.norm${number}`, x, eps);
  return {
    before: (number, x) => (normFirst ? normed(number, x) : x),
    after: (number, x) => (normFirst ? x : normed(number, x)),
  };
}

/** companion.nn.EncoderBlock. Returns { output, weights: [head][query][key] } and what happened in
    between: `attended`, what the attention adds; `middle`, the stream between the two sub-layers;
    `fed`, what the feed-forward network adds. */
export function encoderBlock(
  weights,
  name,
  rows,
  { numHeads, normFirst = false, activation = "relu", eps = 1e-5, allowed },
) {
  const { before, after } = norms(weights, name, normFirst, eps);
  const read = before(1, rows);
  const { output: attended, weights: attention } = multiHead(
    weights,
    `${name}.self_attention`,
    read,
    read,
    numHeads,
    { allowed },
  );
  const middle = after(1, add(rows, attended));
  const fed = feedForward(weights, `${name}.feed_forward`, before(2, middle), activation);
  return { output: after(2, add(middle, fed)), weights: attention, attended, middle, fed };
}

/** The blocks `name`.0, `name`.1, ... one after the other: what encoderBlock returns of each. */
export function encoderBlocks(weights, name, count, rows, options) {
  const passed = [];
  for (let i = 0; i < count; i++) {
    const read = i ? passed[i - 1].output : rows;
    passed.push(encoderBlock(weights, `${name}.${i}`, read, options));
  }
  return passed;
}

/** companion.nn.DecoderBlock. `allowed` rules the self-attention, causal unless told otherwise,
    `memoryAllowed` the attention to `memory`, as multiHead takes it. With a `cache`, the keys and values
    of the places before, `rows` is one more place, whose own are appended.
    Returns { output, weights, crossWeights }, and in between what the three sub-layers add, `attended`,
    `crossed` and `fed`, and the stream after the first and after the second, `middle` and `upper`. */
export function decoderBlock(
  weights,
  name,
  rows,
  memory,
  {
    numHeads,
    normFirst = false,
    activation = "relu",
    eps = 1e-5,
    allowed = (i, j) => j <= i,
    memoryAllowed,
    cache,
  },
) {
  const { before, after } = norms(weights, name, normFirst, eps);
  const attend = (part, query, source, rule) =>
    multiHead(weights, `${name}.${part}`, query, source, numHeads, { allowed: rule });
  const read = before(1, rows);
  if (cache) {
    const own = keysAndValues(weights, `${name}.self_attention`, read);
    cache.key.push(...own.key);
    cache.value.push(...own.value);
  }
  const self = cache
    ? attend("self_attention", read, cache)
    : attend("self_attention", read, read, allowed);
  const middle = after(1, add(rows, self.output));
  const cross = attend("cross_attention", before(2, middle), memory, memoryAllowed);
  const upper = after(2, add(middle, cross.output));
  const fed = feedForward(weights, `${name}.feed_forward`, before(3, upper), activation);
  return {
    output: after(3, add(upper, fed)),
    weights: self.weights,
    crossWeights: cross.weights,
    attended: self.output,
    middle,
    crossed: cross.output,
    upper,
    fed,
  };
}

/** The states of torch.nn.RNN, a row for each word: weights `name`.input of the word, `name`.state of
    the state before. */
export function recurrentStates(weights, name, rows) {
  let state = [weights[`${name}.state.bias`].map(() => 0)];
  return linear(weights, `${name}.input`, rows).map((read) => {
    const [kept] = linear(weights, `${name}.state`, state);
    state = [Array.from(read, (x, i) => Math.tanh(x + kept[i]))];
    return state[0];
  });
}

/** companion.generation.next_token_probabilities: before the cuts and after them, and the words in
    the order of their probability. A top_k of `noCut` keeps all. */
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

// ---------------------------------------------------------------- a companion.models.ViT, pre-norm, of grey images
// `data` has its `weights`, `image_size`, `patch_size`, `num_layers` and the options of a `block`.

/** The patches of an image, row by row, each a row of its pixels. */
export function cutIntoPatches({ image_size: size, patch_size: side }, pixels) {
  const across = size / side;
  return Array.from({ length: across * across }, (_, patch) => {
    const top = Math.floor(patch / across) * side,
      left = (patch % across) * side;
    return Array.from({ length: side * side }, (_, i) => {
      const row = top + Math.floor(i / side),
        column = left + (i % side);
      return pixels[row * size + column];
    });
  });
}

/** What encoderBlock returns of each of the `blocks`, and the `logits`. */
export function classifyImage(data, pixels) {
  const { weights, num_layers: numLayers, block } = data;
  const patches = linear(weights, "patch_embedding.proj", cutIntoPatches(data, pixels));
  const x = add([weights.cls_token[0], ...patches], weights["positions.weight"]);
  const blocks = encoderBlocks(weights, "blocks", numLayers, x, block);
  const [cls] = blocks.at(-1).output;
  const [logits] = linear(weights, "head", layerNorm(weights, "final_norm", [cls], block.eps));
  return { blocks, logits };
}

// ---------------------------------------------------------------- a companion.models.Transformer
// `data` has its `weights`, `num_layers`, the options of a `block`, its `words` and ids.

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

/** A number from 0 to 1 that depends on the seed and the place alone (mulberry32). */
export function randomAt(seed, place) {
  const start = (Math.imul(seed, 0x9e3779b1) + Math.imul(place, 0x85ebca6b)) | 0;
  let a = (start + 0x6d2b79f5) | 0;
  a = Math.imul(a ^ (a >>> 15), a | 1);
  a ^= a + Math.imul(a ^ (a >>> 7), a | 61);
  return ((a ^ (a >>> 14)) >>> 0) / 2 ** 32;
}
