/**
 * Packs a vector into one byte per number, because a search reads all vectors of a user. Exact enough to rank a few hundred memories.
 * @returns null if the vector has no direction
 */
export function packVector(vector: readonly number[]): Uint8Array | null {
  let largest = 0;
  for (const number of vector) largest = Math.max(largest, Math.abs(number));
  if (!(largest > 0) || !Number.isFinite(largest)) return null;
  return new Uint8Array(Int8Array.from(vector, (number) => Math.round((number / largest) * 127)).buffer);
}

/** The cosine similarity of a vector and a packed one, at least 0; null if they cannot be compared. */
export function similarityTo(vector: readonly number[], packed: Uint8Array): number | null {
  if (packed.length !== vector.length) return null;
  const numbers = new Int8Array(packed.buffer, packed.byteOffset, packed.length);
  let product = 0;
  let ownSquares = 0;
  let squares = 0;
  for (let index = 0; index < numbers.length; index += 1) {
    const own = vector[index] ?? 0;
    const other = numbers[index] ?? 0;
    product += own * other;
    ownSquares += own * own;
    squares += other * other;
  }
  const cosine = product / Math.sqrt(ownSquares * squares);
  return Number.isFinite(cosine) ? Math.max(0, cosine) : null;
}
