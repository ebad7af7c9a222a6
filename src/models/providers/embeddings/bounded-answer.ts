import { MAX_ANSWER_LISTS, MAX_ANSWER_VALUES } from './limits.js';

const COMMA = 0x2c;
/** `{`, `[` and `:` begin values that cost far more memory than a number. */
const COLON = 0x3a;
const LIST = 0x5b;
const OBJECT = 0x7b;

class AnswerTooLarge extends Error {
  constructor(max: number, of: string) {
    super(`the response has more than ${max} ${of}`);
  }
}

/**
 * The response, which fails once it exceeds a limit. Its `content-length` may be wrong, so the bytes are counted as they arrive. Values are
 * counted too, because parsing millions of lists within the allowed bytes would block the process for seconds.
 */
export function bounded(answer: Response, maxBytes: number): Response {
  if (!answer.body) return answer;
  const left = { bytes: maxBytes, values: MAX_ANSWER_VALUES, lists: MAX_ANSWER_LISTS };
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, reader) => {
      left.bytes -= chunk.byteLength;
      if (left.bytes >= 0) count(chunk, left);
      if (left.bytes < 0) reader.error(new AnswerTooLarge(maxBytes, 'bytes'));
      else if (left.values < 0) reader.error(new AnswerTooLarge(MAX_ANSWER_VALUES, 'values'));
      else if (left.lists < 0) reader.error(new AnswerTooLarge(MAX_ANSWER_LISTS, 'lists and members'));
      else reader.enqueue(chunk);
    },
  });
  return new Response(answer.body.pipeThrough(counted), { status: answer.status, headers: answer.headers });
}

function count(chunk: Uint8Array, left: { values: number; lists: number }): void {
  let [values, lists] = [0, 0];
  for (const byte of chunk) {
    if (byte === COMMA) values += 1;
    else if (byte === LIST || byte === OBJECT || byte === COLON) lists += 1;
  }
  left.values -= values;
  left.lists -= lists;
}
