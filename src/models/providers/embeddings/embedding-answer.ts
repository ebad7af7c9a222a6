import type { EmbeddingResult } from '../../domain/embedding-model.js';
import { isJsonObject } from '../../domain/json-object.js';

/** Numbers in a vector; the database accepts no more. */
const MAX_DIMENSIONS = 16_000;
/** Values in a response: the numbers of 64 vectors, and the fields around them. */
const MAX_ANSWER_VALUES = 64 * MAX_DIMENSIONS + 10_000;
/** Lists, objects and members in a response; a usual one has about 320. */
const MAX_ANSWER_LISTS = 10_000;

const COMMA = 0x2c;
/** `{`, `[` and `:` begin values that cost far more memory than a number. */
const COLON = 0x3a;
const LIST = 0x5b;
const OBJECT = 0x7b;

/**
 * The JSON of a response. Its `content-length` may be wrong, so the bytes are counted as they arrive. Values are counted too, because
 * parsing millions of lists within the allowed bytes would block the process for seconds.
 */
export async function readAnswer({ body }: Response, maxBytes: number): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let [bytes, values, lists] = [0, 0, 0];
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`the response has more than ${maxBytes} bytes`);
    for (const byte of chunk) {
      if (byte === COMMA) values += 1;
      else if (byte === LIST || byte === OBJECT || byte === COLON) lists += 1;
    }
    if (values > MAX_ANSWER_VALUES) throw new Error(`the response has more than ${MAX_ANSWER_VALUES} values`);
    if (lists > MAX_ANSWER_LISTS) throw new Error(`the response has more than ${MAX_ANSWER_LISTS} lists and members`);
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** The vectors of a response in the order of the texts, or what is wrong with it: the endpoint may be any server. */
export function vectorsIn(answer: unknown, count: number): EmbeddingResult {
  const data = isJsonObject(answer) ? answer['data'] : undefined;
  if (!Array.isArray(data)) return wrong('the response has no list of vectors');
  if (data.length !== count) return wrong(`${data.length} vectors for ${count} texts`);
  const vectors: (readonly number[])[] = [];
  for (const item of data as unknown[]) {
    const { index, embedding } = isJsonObject(item) ? item : {};
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

function wrong(detail: string): EmbeddingResult {
  return { kind: 'wrong_answer', detail };
}
