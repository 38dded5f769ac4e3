// @ts-check
// Vectors and matrices, each function held to PyTorch. A matrix is an array of rows.

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

/** A number from 0 to 1 that depends on the seed and the place alone (mulberry32). */
export function randomAt(seed, place) {
  const start = (Math.imul(seed, 0x9e3779b1) + Math.imul(place, 0x85ebca6b)) | 0;
  let a = (start + 0x6d2b79f5) | 0;
  a = Math.imul(a ^ (a >>> 15), a | 1);
  a ^= a + Math.imul(a ^ (a >>> 7), a | 61);
  return ((a ^ (a >>> 14)) >>> 0) / 2 ** 32;
}
