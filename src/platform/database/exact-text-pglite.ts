import { PGlite } from '@electric-sql/pglite';

type Messages = Awaited<ReturnType<PGlite['execProtocolStream']>>;
type Message = Messages[number];

interface DataRow extends Message {
  readonly fields: (string | null)[];
}

const codeOf = (letter: string): number => letter.charCodeAt(0);
const DATA_ROW = codeOf('D');
/** What the service can be answered rows to: the execution of a prepared statement, and a plain text of SQL. */
const ANSWERED_WITH_ROWS = new Set([codeOf('E'), codeOf('Q')]);
/** A letter, then the length of what follows, itself included. */
const HEADER = 5;
const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/**
 * PGlite reads every value with a decoder that takes U+FEFF at its beginning for a byte order mark and drops it:
 * a text that begins with the character would come back without. The bytes that PGlite hands out beside what it made
 * of them tell what was lost. Its decoder and the parser around it are out of reach, and rows are all that is at stake.
 */
export class ExactTextPglite extends PGlite {
  /** Every query and every script comes through here, one message of the protocol at a time. */
  override async execProtocolStream(
    ...[message, options]: Parameters<PGlite['execProtocolStream']>
  ): Promise<Messages> {
    if (!ANSWERED_WITH_ROWS.has(message[0] ?? 0)) return super.execProtocolStream(message, options);
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

/** @param content of the row: the number of its values, then each one's length, -1 for null, and bytes */
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
