import type { PGlite } from '@electric-sql/pglite';
import { GuardedPglite } from './guarded-pglite.js';

type Messages = Awaited<ReturnType<PGlite['execProtocolStream']>>;
type Message = Messages[number];

interface DataRow extends Message {
  readonly fields: (string | null)[];
}

const codeOf = (letter: string): number => letter.charCodeAt(0);
const DATA_ROW = codeOf('D');
/** Messages that rows may respond to: the execution of a prepared statement, and a text of SQL. */
const RETURNS_ROWS = new Set([codeOf('E'), codeOf('Q')]);
/** A letter, then the length of the rest, including itself. */
const HEADER = 5;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/**
 * PGlite's decoder takes U+FEFF at the beginning of a value for a byte order mark and drops it. PGlite's decoder cannot be replaced,
 * but it returns the bytes too, from which this class restores the character in rows.
 */
export class ExactTextPglite extends GuardedPglite {
  /** All queries and scripts call this, one message of the protocol at a time. */
  override async execProtocolStream(
    ...[message, options]: Parameters<PGlite['execProtocolStream']>
  ): Promise<Messages> {
    if (!RETURNS_ROWS.has(message[0] ?? 0)) return super.execProtocolStream(message, options);
    const { messages, data } = await this.execProtocol(message, options);
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    if (bytes.includes(BYTE_ORDER_MARK)) restoreMarks(messages, bytes);
    return messages;
  }
}

function restoreMarks(messages: Messages, bytes: Buffer): void {
  const rows = messages.filter((message): message is DataRow => message.name === 'dataRow').values();
  let at = 0;
  while (at + HEADER <= bytes.length) {
    const end = at + 1 + bytes.readUInt32BE(at + 1);
    if (bytes[at] === DATA_ROW) restoreMarksOf(rows.next().value, bytes.subarray(at + HEADER, end));
    at = end;
  }
}

/** @param content the number of values of the row, then the length of each, -1 for null, and its bytes */
function restoreMarksOf(row: DataRow | undefined, content: Buffer): void {
  if (!row) return;
  let at = 2;
  for (let index = 0; index < row.fields.length; index += 1) {
    const length = content.readInt32BE(at);
    at += 4;
    if (length < 0) continue;
    const value = content.subarray(at, at + length);
    if (value.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) row.fields[index] = value.toString('utf8');
    at += length;
  }
}
