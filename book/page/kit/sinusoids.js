// @ts-check
// Positions as angles.

/** The angle of a pair of columns of companion.nn.sinusoidal_encoding, and of a RotaryEmbedding. */
export const angle = (position, pair, width, base = 10000) =>
  position / base ** ((2 * pair) / width);

/** A row of companion.nn.sinusoidal_encoding: sine in even columns, cosine in odd ones. */
export const sinusoid = (position, width) =>
  Array.from({ length: width }, (_, column) =>
    (column % 2 ? Math.cos : Math.sin)(angle(position, column >> 1, width)),
  );
