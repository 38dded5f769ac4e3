// @ts-check
// A published encoder in a worker: it takes the bytes of its weights part by part, then texts. Matrices
// are whole numbers from -127 to 127, with a scale for each row (book/_press/encoder.py packs them).

import { encoderBlocks, layerNorm } from "./networks.js";
import { tokenize } from "./wordpiece.js";

/** Numbers of a tensor: a row, or an array of rows; `row(matrix, i)` alone for a table that stays packed. */
function unpackRows({ shape, at }, bytes) {
  const floats = (from, count) => new Float32Array(bytes.buffer.slice(from, from + 4 * count));
  if (shape.length === 1) return floats(at, shape[0]);
  const [rows, width] = shape;
  const whole = new Int8Array(bytes.buffer, at, rows * width);
  const scales = floats(at + rows * width, rows);
  const row = (i) =>
    Float32Array.from(whole.subarray(i * width, (i + 1) * width), (x) => x * scales[i]);
  return { rows, row };
}

/** { tokens, ids, layers: [layer][token] vectors, before the first block and after each,
    weights: [layer][head][query][key] } */
function encode({ config, ids, tables, weights }, text) {
  const tokens = tokenize(text, ids);
  const read = tokens.map((token) => ids.get(token));
  const start = read.map((id, position) => {
    const [word, place, type] = [
      tables["token_embedding.weight"].row(id),
      tables["positions.weight"].row(position),
      tables["type_embedding.weight"].row(0),
    ];
    return word.map((x, i) => x + place[i] + type[i]);
  });
  const { num_heads: numHeads, num_layers: numLayers, activation, norm_eps: eps } = config;
  const embedded = layerNorm(weights, "embedding_norm", start, eps);
  const options = { numHeads, activation, eps };
  const passed = encoderBlocks(weights, "blocks", numLayers, embedded, options);
  return {
    tokens,
    ids: read,
    layers: [embedded, ...passed.map(({ output }) => output)],
    weights: passed.map((block) => block.weights),
  };
}

let bytes, encoder;

export const ANSWERS = {
  /** Room for all bytes. */
  begin: ({ length }) => {
    bytes = new Uint8Array(length);
  },
  /** Some of them. */
  part: ({ at, base64 }) => {
    const text = atob(base64);
    for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
  },
  /** All are there: tables stay packed, since few of their rows are read; the rest is unpacked. */
  end: ({ config, tensors, vocabulary }) => {
    const tables = {},
      weights = {};
    for (const tensor of tensors) {
      const found = unpackRows(tensor, bytes);
      if (tensor.table) tables[tensor.name] = found;
      else
        weights[tensor.name] =
          found instanceof Float32Array
            ? found
            : Array.from({ length: found.rows }, (_, i) => found.row(i));
    }
    const ids = new Map(vocabulary.map((token, id) => [token, id]));
    encoder = { config, ids, tables, weights };
  },
  tokenize: ({ text }) => tokenize(text, encoder.ids),
  encode: ({ text }) => encode(encoder, text),
};

onmessage = ({ data: { kind, ...rest } }) => {
  try {
    postMessage({ answer: ANSWERS[kind](rest) });
  } catch (error) {
    postMessage({ error: String(error) });
  }
};
