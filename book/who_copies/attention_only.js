// @ts-check
// The attention-only Transformer of the chapter, with one head a layer, and its training: forward,
// backward, AdamW. All numbers are in one Float32Array; a matrix says where it begins there, and how far it
// is to the next row and to the next column, so that a part of it or its transpose is a view, not a copy.

/** @typedef {{ at: number, rows: number, columns: number, down: number, right: number }} Matrix */
/** @typedef {(a: Matrix, b: Matrix, c: Matrix) => void} Multiply */

const EPS = 1e-5; // of a layer norm
const ADAMW = { betas: [0.9, 0.98], eps: 1e-8, decay: 0.01 };

/** @param {Matrix} a @returns {Matrix} */
const transposed = ({ at, rows, columns, down, right }) => ({
  at,
  rows: columns,
  columns: rows,
  down: right,
  right: down,
});

/** C = A B where a browser has no WebAssembly with vectors; `kernel.wat` does the same.
    @param {Float32Array} m
    @returns {Multiply} */
const plainMultiply = (m) => (a, b, c) => {
  for (let i = 0; i < a.rows; i++)
    for (let j = 0; j < b.columns; j += 4) {
      let c0 = 0,
        c1 = 0,
        c2 = 0,
        c3 = 0,
        from = b.at + j,
        along = a.at + i * a.down; // four at a time
      for (let k = 0; k < a.columns; k++, from += b.down, along += a.right) {
        const x = m[along];
        c0 += x * m[from];
        c1 += x * m[from + 1];
        c2 += x * m[from + 2];
        c3 += x * m[from + 3];
      }
      const to = c.at + i * c.down + j;
      m[to] = c0;
      m[to + 1] = c1;
      m[to + 2] = c2;
      m[to + 3] = c3;
    }
};

/** @param {Uint8Array<ArrayBuffer>} kernel the assembled `kernel.wat`
    @param {WebAssembly.Memory} memory
    @returns {Multiply} */
const fastMultiply = (kernel, memory) => {
  const instance = new WebAssembly.Instance(new WebAssembly.Module(kernel), { js: { memory } });
  const multiply = /** @type {Function} */ (instance.exports.multiply);
  return (a, b, c) =>
    multiply(
      ...[a.at, a.down, a.right, b.at, b.down, c.at, c.down].map((numbers) => 4 * numbers),
      ...[a.rows, b.columns, a.columns],
    );
};

/** The model, with random weights. T is a multiple of 8, as d and V are.
    @param {{ layers: number, V: number, T: number, d: number, B: number }} shape letters, length, width, batch
    @param {Uint8Array<ArrayBuffer> | null} kernel
    @param {() => number} random */
export function attentionOnly({ layers: L, V, T, d, B }, kernel, random) {
  let size = 0;
  /** @returns {Matrix} */
  const matrix = (rows, columns) => {
    const at = size;
    size += rows * columns;
    return { at, rows, columns, down: columns, right: 1 };
  };
  const layers = Array.from({ length: L }, () => ({
    gain: matrix(1, d),
    shift: matrix(1, d),
    qkv: matrix(d, 3 * d), // x W_q, x W_k and x W_v stand side by side
    qkvBias: matrix(1, 3 * d),
    out: matrix(d, d),
    outBias: matrix(1, d),
  }));
  const letters = matrix(V, d),
    positions = matrix(T, d),
    gain = matrix(1, d),
    shift = matrix(1, d),
    head = matrix(d, V);
  const count = size;
  const [gradients, means, squares] = [1, 2, 3].map(() => matrix(1, count).at);
  /** @param {Matrix} weight @returns {Matrix} */
  const gradient = (weight) => ({ ...weight, at: weight.at + gradients });

  // What a forward pass leaves for the way back, and room for that.
  const rows = B * T;
  const streams = Array.from({ length: L + 1 }, () => matrix(rows, d)),
    reads = Array.from({ length: L + 1 }, () => matrix(rows, d)),
    qkvs = Array.from({ length: L }, () => matrix(rows, 3 * d)),
    weights = Array.from({ length: L }, () => matrix(rows, T)),
    mixed = Array.from({ length: L }, () => matrix(rows, d));
  const logits = matrix(rows, V);
  const dStream = matrix(rows, d),
    dRead = matrix(rows, d),
    dQkv = matrix(rows, 3 * d),
    dScores = matrix(T, T),
    flipped = matrix(1, Math.max(T * d, 3 * d * d, d * V));

  const memory = kernel && new WebAssembly.Memory({ initial: Math.ceil(size / 2 ** 14) });
  const m = memory ? new Float32Array(memory.buffer) : new Float32Array(size);
  const product = memory ? fastMultiply(kernel, memory) : plainMultiply(m);

  /** C = A B: only A may be a transpose, so that of B is copied first.
      @type {Multiply} */
  function multiply(a, b, c) {
    if (b.right === 1) return product(a, b, c);
    const copy = { ...flipped, rows: b.rows, columns: b.columns, down: b.columns };
    for (let j = 0; j < b.columns; j++)
      for (let i = 0, from = b.at + j * b.right; i < b.rows; i++)
        m[copy.at + i * copy.down + j] = m[from + i];
    product(a, copy, c);
  }

  /** x + row, for every row of x. */
  function addToRows(x, row) {
    for (let at = x.at, end = at + x.rows * x.columns; at < end; at += x.columns)
      for (let j = 0; j < x.columns; j++) m[at + j] += m[row.at + j];
  }
  /** The sum of the rows of x. */
  function sumOfRows(x, sum) {
    m.fill(0, sum.at, sum.at + x.columns);
    for (let at = x.at, end = at + x.rows * x.columns; at < end; at += x.columns)
      for (let j = 0; j < x.columns; j++) m[sum.at + j] += m[at + j];
  }

  /** The mean of d numbers, and 1 / their standard deviation. */
  function spread(at) {
    let mean = 0,
      variance = 0;
    for (let j = 0; j < d; j++) mean += m[at + j] / d;
    for (let j = 0; j < d; j++) variance += (m[at + j] - mean) ** 2 / d;
    return [mean, 1 / Math.sqrt(variance + EPS)];
  }
  /** y = gain (x - mean) / deviation + shift */
  function norm(x, gain, shift, y) {
    for (let at = 0; at < rows * d; at += d) {
      const [mean, scale] = spread(x.at + at);
      for (let j = 0; j < d; j++)
        m[y.at + at + j] = m[gain.at + j] * (m[x.at + at + j] - mean) * scale + m[shift.at + j];
    }
  }
  /** With n = (x - mean) / deviation and g = gain dy: dx += (g - mean(g) - n mean(g n)) / deviation */
  function normBack(x, gain, shift, dy, dx) {
    const dGain = gradient(gain).at,
      dShift = gradient(shift).at;
    m.fill(0, dGain, dGain + d);
    m.fill(0, dShift, dShift + d);
    for (let at = 0; at < rows * d; at += d) {
      const [mean, scale] = spread(x.at + at);
      let along = 0,
        around = 0;
      for (let j = 0; j < d; j++) {
        const n = (m[x.at + at + j] - mean) * scale,
          g = m[gain.at + j] * m[dy.at + at + j];
        m[dGain + j] += n * m[dy.at + at + j];
        m[dShift + j] += m[dy.at + at + j];
        along += g / d;
        around += (g * n) / d;
      }
      for (let j = 0; j < d; j++) {
        const n = (m[x.at + at + j] - mean) * scale,
          g = m[gain.at + j] * m[dy.at + at + j];
        m[dx.at + at + j] += (g - along - n * around) * scale;
      }
    }
  }

  /** softmax(scores / √d) over the keys that are not later than the query, in place. */
  function causalSoftmax(scores) {
    for (let i = 0, at = scores.at; i < T; i++, at += T) {
      let most = -Infinity,
        sum = 0;
      for (let j = 0; j <= i; j++) most = Math.max(most, m[at + j]);
      for (let j = 0; j <= i; j++) sum += m[at + j] = Math.exp((m[at + j] - most) / Math.sqrt(d));
      for (let j = 0; j < T; j++) m[at + j] = j <= i ? m[at + j] / sum : 0;
    }
  }
  /** d scores = A (dA - Σ A dA) / √d, in the place of dA. */
  function softmaxBack(A, dA) {
    for (let i = 0; i < T * T; i += T) {
      let sum = 0;
      for (let j = 0; j < T; j++) sum += m[A.at + i + j] * m[dA.at + i + j];
      for (let j = 0; j < T; j++)
        m[dA.at + i + j] = (m[A.at + i + j] * (m[dA.at + i + j] - sum)) / Math.sqrt(d);
    }
  }

  /** The rows of one sequence, and of these, for queries, keys and values, one third of the columns. */
  const sequence = (x, s) => ({ ...x, at: x.at + s * T * x.down, rows: T });
  const thirds = (x, s) =>
    [0, 1, 2].map((third) => {
      const part = sequence(x, s);
      return { ...part, at: part.at + third * d, columns: d };
    });

  /** The logits of B sequences of T letters. Layer 2 misses layer 1 in these of its inputs, "q", "k"
      and "v": there, what layer 1 adds is replaced by its mean. */
  function forward(ids, cut = "") {
    for (let r = 0; r < rows; r++)
      for (let j = 0; j < d; j++)
        m[streams[0].at + r * d + j] =
          m[letters.at + ids[r] * d + j] + m[positions.at + (r % T) * d + j];
    layers.forEach((layer, l) => {
      const project = (x, read, qkv) => {
        norm(x, layer.gain, layer.shift, read);
        multiply(read, layer.qkv, qkv);
        addToRows(qkv, layer.qkvBias);
      };
      project(streams[l], reads[l], qkvs[l]);
      if (l === 1 && cut) {
        meanOfAdded(dStream); // what only the way back uses serves for it
        project(dStream, dRead, dQkv);
        for (let at = 0; at < rows * 3 * d; at++)
          if (cut.includes("qkv"[Math.floor(at / d) % 3])) m[qkvs[1].at + at] = m[dQkv.at + at];
      }
      for (let s = 0; s < B; s++) {
        const [Q, K, V] = thirds(qkvs[l], s),
          A = sequence(weights[l], s);
        multiply(Q, transposed(K), A);
        causalSoftmax(A);
        multiply(A, V, sequence(mixed[l], s));
      }
      const next = streams[l + 1];
      multiply(mixed[l], layer.out, next);
      addToRows(next, layer.outBias);
      for (let at = 0; at < rows * d; at++) m[next.at + at] += m[streams[l].at + at];
    });
    norm(streams[L], gain, shift, reads[L]);
    multiply(reads[L], head, logits);
  }
  /** The stream with the mean of what layer 1 adds, in the place of what it adds. */
  function meanOfAdded(x) {
    for (let j = 0; j < d; j++) {
      let mean = 0;
      for (let at = j; at < rows * d; at += d)
        mean += (m[streams[1].at + at] - m[streams[0].at + at]) / rows;
      for (let at = j; at < rows * d; at += d) m[x.at + at] = m[streams[0].at + at] + mean;
    }
  }

  /** The mean loss on the next letter from position first[s] on; the logits become their gradient. */
  function loss(ids, first = new Int32Array(B)) {
    const counted = first.reduce((sum, from) => sum + T - 1 - from, 0);
    let total = 0;
    for (let r = 0; r < rows; r++) {
      const at = logits.at + r * V;
      const counts = r % T >= first[Math.floor(r / T)] && r % T < T - 1;
      if (!counts) {
        m.fill(0, at, at + V);
        continue;
      }
      let most = -Infinity,
        sum = 0;
      for (let j = 0; j < V; j++) most = Math.max(most, m[at + j]);
      const right = m[at + ids[r + 1]] - most;
      for (let j = 0; j < V; j++) sum += m[at + j] = Math.exp(m[at + j] - most);
      total += (Math.log(sum) - right) / counted;
      for (let j = 0; j < V; j++) m[at + j] /= sum * counted; // softmax, minus 1 at the right letter
      m[at + ids[r + 1]] -= 1 / counted;
    }
    return total;
  }

  /** The gradients of all weights, from that of the logits: every line of `forward` backwards. If
      C = A B, then dA = dC Bᵀ and dB = Aᵀ dC. */
  function backward(ids) {
    multiply(transposed(reads[L]), logits, gradient(head));
    multiply(logits, transposed(head), dRead);
    m.fill(0, dStream.at, dStream.at + rows * d);
    normBack(streams[L], gain, shift, dRead, dStream);
    for (let l = L - 1; l >= 0; l--) {
      const layer = layers[l];
      multiply(transposed(mixed[l]), dStream, gradient(layer.out));
      sumOfRows(dStream, gradient(layer.outBias));
      const dMixed = dRead;
      multiply(dStream, transposed(layer.out), dMixed);
      for (let s = 0; s < B; s++) {
        const [Q, K, V] = thirds(qkvs[l], s),
          [dQ, dK, dV] = thirds(dQkv, s);
        const A = sequence(weights[l], s),
          dY = sequence(dMixed, s);
        multiply(transposed(A), dY, dV);
        multiply(dY, transposed(V), dScores);
        softmaxBack(A, dScores);
        multiply(dScores, K, dQ);
        multiply(transposed(dScores), Q, dK);
      }
      multiply(transposed(reads[l]), dQkv, gradient(layer.qkv));
      sumOfRows(dQkv, gradient(layer.qkvBias));
      multiply(dQkv, transposed(layer.qkv), dRead);
      normBack(streams[l], layer.gain, layer.shift, dRead, dStream); // += : the stream goes past the layer
    }
    const dLetters = gradient(letters).at,
      dPositions = gradient(positions).at;
    m.fill(0, dLetters, dLetters + V * d);
    m.fill(0, dPositions, dPositions + T * d);
    for (let r = 0; r < rows; r++)
      for (let j = 0; j < d; j++) {
        m[dLetters + ids[r] * d + j] += m[dStream.at + r * d + j];
        m[dPositions + (r % T) * d + j] += m[dStream.at + r * d + j];
      }
  }

  let steps = 0;
  /** One step of AdamW along the gradients. */
  function adamW(rate) {
    const { betas, eps, decay } = ADAMW;
    steps++;
    const [first, second] = betas.map((beta) => 1 - beta ** steps);
    for (let i = 0; i < count; i++) {
      const g = m[gradients + i];
      const mean = (m[means + i] = betas[0] * m[means + i] + (1 - betas[0]) * g);
      const square = (m[squares + i] = betas[1] * m[squares + i] + (1 - betas[1]) * g ** 2);
      m[i] *= 1 - rate * decay;
      m[i] -= (rate * (mean / first)) / (Math.sqrt(square / second) + eps);
    }
  }

  // As PyTorch begins: uniform up to 1 / √d, embeddings normal with a deviation of 1/2, norms 1 and 0.
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const set = (weight, draw) => {
    for (let i = 0; i < weight.rows * weight.columns; i++) m[weight.at + i] = draw();
  };
  for (const embedding of [letters, positions]) set(embedding, () => normal() / 2);
  for (const weight of [head, ...layers.flatMap((x) => [x.qkv, x.qkvBias, x.out, x.outBias])])
    set(weight, () => (2 * random() - 1) / Math.sqrt(d));
  for (const part of [{ gain }, ...layers]) set(part.gain, () => 1);

  return {
    count,
    parameters: { letters, positions, layers, gain, shift, head },
    numbers: m,
    gradients,
    forward,
    loss,
    backward,
    adamW,
    /** The attention weights [query][key] of a layer in the first sequence, of its first letters. */
    map: (layer, length) =>
      Array.from({ length }, (_, i) => {
        const at = weights[layer].at + i * T;
        return Array.from(m.subarray(at, at + i + 1));
      }),
  };
}
