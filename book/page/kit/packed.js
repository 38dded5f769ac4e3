// @ts-check
// Numbers as book.page packs them.

/** Numbers from book.page.live.packed: a row, or a matrix as an array of rows. */
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

/** {name: packed} -> {name: numbers}, the names of a PyTorch state dict. */
export const unpackAll = (weights) =>
  Object.fromEntries(Object.entries(weights).map(([name, packed]) => [name, unpack(packed)]));

/** The data of a figure, its weights unpacked. */
export const withWeights = (data) => ({ ...data, weights: unpackAll(data.weights) });
