import { invalid, type Refusal } from './problems.js';

/** Parts of a form besides its file, such as a name that the page adds. */
const MAX_FURTHER_PARTS = 10;
/** Bytes of the headers of one part. */
const MAX_PART_HEADERS = 8_192;
const BOUNDARY = /;\s*boundary=(?:"([\w'()+,./:=? -]{1,70})"|([\w'()+./:=?-]{1,70}))\s*(?:;|$)/i;
const PARAMETER = /;\s*([\w*-]+)=(?:"([^"]*)"|([^\s;"]+))/g;
const ESCAPED: Readonly<Partial<Record<string, string>>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };
const CR = 13;
const LF = 10;
const HYPHEN = 45;
const HEADERS_END = Uint8Array.of(CR, LF, CR, LF);

interface Part {
  readonly name: string | null;
  readonly filename: string | null;
  readonly type: string | null;
  readonly content: Uint8Array<ArrayBuffer>;
}

/**
 * The file of the form's field `file`. The platform's own `formData()` blocks the process for seconds at a form of many
 * parts or headers; this reads no further than the first part that is too many or too large.
 * @throws Refusal
 */
export function fileOf(body: Uint8Array<ArrayBuffer>, contentType: string): File {
  let found: File | null = null;
  let further = 0;
  for (const { name, filename, type, content } of partsOf(body, boundaryOf(contentType))) {
    if (name !== 'file' || filename === null) {
      further += 1;
      if (further > MAX_FURTHER_PARTS) throw invalid(`The form must have at most ${MAX_FURTHER_PARTS} further fields.`);
    } else if (found) {
      throw invalid('The form must have one file.');
    } else {
      found = new File([content], filename, { type: type ?? 'text/plain' });
    }
  }
  if (found) return found;
  throw invalid('The form must have a file in the field file.');
}

function* partsOf(body: Uint8Array<ArrayBuffer>, boundary: string): Generator<Part, void> {
  const delimiter = new TextEncoder().encode(`\r\n--${boundary}`);
  // The first delimiter has no line before it.
  let at = delimiter.length - 2;
  if (indexOf(body.subarray(0, at), delimiter.subarray(2), 0) !== 0) throw malformed();
  while (body[at] !== HYPHEN || body[at + 1] !== HYPHEN) {
    if (body[at] !== CR || body[at + 1] !== LF) throw malformed();
    const start = at + 2;
    const length = indexOf(body.subarray(start, start + MAX_PART_HEADERS), HEADERS_END, 0);
    if (length < 0) throw malformed();
    const contentStart = start + length + HEADERS_END.length;
    const end = indexOf(body, delimiter, contentStart);
    if (end < 0) throw malformed();
    yield { ...headersOf(body.subarray(start, start + length)), content: body.subarray(contentStart, end) };
    at = end + delimiter.length;
  }
}

function headersOf(bytes: Uint8Array): Omit<Part, 'content'> {
  const headers = new Map<string, string>();
  for (const line of textOf(bytes).split('\r\n')) {
    const colon = line.indexOf(':');
    headers.set(line.slice(0, Math.max(colon, 0)).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const disposition = headers.get('content-disposition') ?? '';
  if (!/^form-data\s*(;|$)/i.test(disposition)) throw malformed();
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of disposition.matchAll(PARAMETER)) {
    parameters.set(name.toLowerCase(), (quoted ?? plain).replaceAll(/%22|%0D|%0A/gi, unescaped));
  }
  return {
    name: parameters.get('name') ?? null,
    filename: parameters.get('filename') ?? null,
    type: headers.get('content-type') ?? null,
  };
}

function unescaped(sequence: string): string {
  return ESCAPED[sequence.toUpperCase()] ?? sequence;
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw malformed();
  }
}

function boundaryOf(contentType: string): string {
  const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
  const boundary = quoted ?? plain;
  if (boundary === undefined) throw malformed();
  return boundary;
}

/**
 * One pass over the bytes, whatever they are: a delimiter has no CR but its first byte, so no comparison reaches the start
 * of another. @returns -1 if there is none
 */
function indexOf(bytes: Uint8Array, sought: Uint8Array, from: number): number {
  for (let at = from; at + sought.length <= bytes.length; at += 1) {
    let same = 0;
    while (same < sought.length && bytes[at + same] === sought[same]) same += 1;
    if (same === sought.length) return at;
  }
  return -1;
}

function malformed(): Refusal {
  return invalid('The body must be a form.');
}
