// @ts-check
// Layers and blocks of companion.nn, each held to PyTorch. `weights` are {name: numbers}, the names those of
// a state dict.

import { add, dot, matmul, softmax } from "./numerics.js";

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

/** Logits of a vector by an output matrix that is the table of the word vectors. */
export const tiedLogits = (table, vector) =>
  linear({ "table.weight": table }, "table", [vector])[0];

/** What a companion.nn.MultiHeadAttention holds of the rows that it attends to. */
export const keysAndValues = (weights, name, rows) => ({
  key: linear(weights, `${name}.k_proj`, rows),
  value: linear(weights, `${name}.v_proj`, rows),
});

/** companion.nn.MultiHeadAttention: queries from `rows`, keys and values from `memory`, its rows or what
    keysAndValues made of them.
    allowed(i, j) says what may be attended to; a head whose `on` is false contributes nothing.
    Returns { output, weights: [head][query][key] }.
    @param {Record<string, any>} weights
    @param {string} name
    @param {any[]} rows
    @param {any} memory
    @param {number} numHeads
    @param {{ allowed?: (query: number, key: number) => boolean, on?: boolean[] }} [rule] */
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
