import { MAX_ERROR_TEXT } from './mcp-limits.js';

/** Characters that are read of a text: more than the result has, because white space and secrets take less room in it. */
const MAX_READ = 8 * MAX_ERROR_TEXT;
/** A shorter part of a secret is also an ordinary word. */
const MIN_PART = 6;
/** This many successive characters reveal too much of a secret. */
const MIN_PIECE = 12;
/** A value with more words is a text. Its longer words are found as pieces. */
const MAX_WORDS = 64;
/** Names that precede a secret in a header. */
const NAMES =
  /^(bearer|basic|token|digest|negotiate|api-?_?key|x-api-key|access_token|authorization|username|password|secret|session|cookie)$/;
const SCHEME = /^(bearer|basic|token|digest|negotiate|api-?key) +/i;
const REDACTED = '[redacted]';

/**
 * A text of a server, but not the result of a tool, as other people may read it: one line of at most `MAX_ERROR_TEXT` characters,
 * without the secrets that were sent to the server.
 */
export function redactedText(text: string, secrets: readonly string[]): string {
  const line = text.slice(0, MAX_READ).replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ');
  const redacted = withoutSecrets(line, secrets);
  // At the cut there may be the beginning of a secret that is too short to be found.
  const whole = text.length > MAX_READ ? redacted.slice(0, -MIN_PIECE) : redacted;
  return [...whole.trim()].slice(0, MAX_ERROR_TEXT).join('').toWellFormed();
}

/**
 * Replaces secrets, their parts and their longer pieces: plain or encoded for a URL or JSON, in upper or lower case. Takes time in
 * proportion to the text and to the secrets.
 */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  const marks = new Marks(text);
  for (const form of new Set(secrets.flatMap(partsOf).flatMap(formsOf))) marks.mark(lowerCase(form));
  return marks.redacted();
}

/** The parts of a secret that are secret by themselves. */
function partsOf(secret: string): string[] {
  const whole = secret.replace(/\s+/g, ' ').trim();
  const credentials = whole.replace(SCHEME, '');
  const basic = /^basic /i.test(whole) ? basicCredentials(credentials) : [];
  const words = [credentials, ...basic].flatMap((value) => value.split(/[\s,;="'&]+/).slice(0, MAX_WORDS));
  return [credentials, ...basic, ...words].filter((part) => part.length >= MIN_PART && !NAMES.test(part.toLowerCase()));
}

/** Both together, the user and the password. */
function basicCredentials(encoded: string): string[] {
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon < 0 ? [] : [decoded, decoded.slice(0, colon), decoded.slice(colon + 1)];
}

function formsOf(part: string): string[] {
  if (/^[\w.~-]*$/.test(part)) return [part];
  const url = encodeURIComponent(part.toWellFormed());
  const form = new URLSearchParams({ '': part }).toString().slice(1);
  return [part, url, url.replaceAll('%20', '+'), form, JSON.stringify(part).slice(1, -1)];
}

/** Unlike `toLowerCase` alone, never changes the length. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Marks the characters of a text that must be redacted. */
class Marks {
  private readonly text: string;
  private readonly isMarked: Uint8Array;
  /** The positions of each sequence of `MIN_PIECE` characters that has not been found yet. */
  private readonly pieces = new Map<string, number[]>();
  /** The samples of all pieces. They exclude most pieces of a secret without copying them. */
  private readonly samples = new Uint8Array(65_536);

  constructor(private readonly original: string) {
    this.text = lowerCase(original);
    this.isMarked = new Uint8Array(this.text.length);
    for (let start = 0; start + MIN_PIECE <= this.text.length; start += 1) {
      this.samples[sampleOf(this.text, start)] = 1;
      const piece = this.text.slice(start, start + MIN_PIECE);
      const starts = this.pieces.get(piece);
      if (starts) starts.push(start);
      else this.pieces.set(piece, [start]);
    }
  }

  mark(form: string): void {
    if (form.length < MIN_PIECE) {
      for (let at = this.text.indexOf(form); at >= 0; at = this.text.indexOf(form, at + 1)) this.cover(at, form.length);
    }
    for (let start = 0; start + MIN_PIECE <= form.length; start += 1) {
      if (this.samples[sampleOf(form, start)] === 1) this.markPiece(form.slice(start, start + MIN_PIECE));
    }
  }

  redacted(): string {
    let redacted = '';
    for (let index = 0; index < this.original.length; index += 1) {
      if (this.isMarked[index] !== 1) redacted += this.original.charAt(index);
      else if (index === 0 || this.isMarked[index - 1] !== 1) redacted += REDACTED;
    }
    return redacted;
  }

  private markPiece(piece: string): void {
    for (const at of this.pieces.get(piece) ?? []) this.cover(at, MIN_PIECE);
    this.pieces.delete(piece);
  }

  private cover(at: number, length: number): void {
    this.isMarked.fill(1, at, at + length);
  }
}

/** A hash of three characters of a piece. */
function sampleOf(text: string, start: number): number {
  const middle = start + (MIN_PIECE >> 1);
  const last = start + MIN_PIECE - 1;
  return (text.charCodeAt(start) * 961 + text.charCodeAt(middle) * 31 + text.charCodeAt(last)) & 0xffff;
}
