import type { EmbeddingResult } from '../../domain/embedding-model.js';
import { MAX_DIMENSIONS } from './limits.js';

/** The vectors of a response in the order of the texts, or what is wrong with it: the endpoint may be any server. */
export function vectorsIn(answer: unknown, count: number): EmbeddingResult {
  const data = isObject(answer) ? answer['data'] : undefined;
  if (!Array.isArray(data)) return wrong('the response has no list of vectors');
  if (data.length !== count) return wrong(`${data.length} vectors for ${count} texts`);
  const vectors: (readonly number[])[] = [];
  for (const item of data as unknown[]) {
    const { index, embedding } = isObject(item) ? item : {};
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= count)
      return wrong('a vector without a valid index');
    if (vectors[index] !== undefined) return wrong(`two vectors for text ${index}`);
    if (!isVector(embedding)) return wrong(`the vector of text ${index} is invalid`);
    vectors[index] = embedding;
  }
  const dimensions = vectors[0]?.length ?? 0;
  const other = vectors.find(({ length }) => length !== dimensions);
  if (other) return wrong(`vectors of ${dimensions} and of ${other.length} numbers`);
  return { kind: 'vectors', vectors, dimensions };
}

/** The database stores numbers of 32 bits, and refuses those that are infinite in 32 bits. */
function isVector(value: unknown): value is readonly number[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MAX_DIMENSIONS &&
    (value as unknown[]).every((number) => typeof number === 'number' && Number.isFinite(Math.fround(number)))
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function wrong(detail: string): EmbeddingResult {
  return { kind: 'wrong_answer', detail };
}
