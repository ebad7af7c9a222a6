/** A shorter part of a secret is a word that any text may have. */
const MIN_PART = 6;
/** So many characters of a secret that follow each other tell too much of it. */
const MIN_PIECE = 12;
/** A value with more words is a text; its longer words are found as pieces. */
const MAX_WORDS = 64;
/** Names that stand beside a secret in a header. */
const NAMES =
  /^(bearer|basic|token|digest|negotiate|api-?_?key|x-api-key|access_token|authorization|username|password|secret|session|cookie)$/;
const SCHEME = /^(bearer|basic|token|digest|negotiate|api-?key) +/i;
const REDACTED = '[redacted]';

/**
 * `text` without the secrets, their parts and longer pieces, as they are or encoded for a URL or JSON, in upper or lower case.
 * Takes time in proportion to the text and to the secrets.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const marks = new Marks(text);
  for (const form of new Set(secrets.flatMap(partsOf).flatMap(formsOf))) marks.mark(folded(form));
  return marks.redacted();
}

/** What of a secret is secret by itself. */
function partsOf(secret: string): string[] {
  const whole = secret.replace(/\s+/g, ' ').trim();
  const credentials = whole.replace(SCHEME, '');
  const basic = /^basic /i.test(whole) ? basicCredentials(credentials) : [];
  const words = [credentials, ...basic].flatMap((value) => value.split(/[\s,;="'&]+/).slice(0, MAX_WORDS));
  return [credentials, ...basic, ...words].filter((part) => part.length >= MIN_PART && !NAMES.test(part.toLowerCase()));
}

/** With the user and the password by themselves. */
function basicCredentials(encoded: string): string[] {
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon < 0 ? [] : [decoded, decoded.slice(0, colon), decoded.slice(colon + 1)];
}

function formsOf(part: string): string[] {
  if (/^[\w.~-]*$/.test(part)) return [part];
  const url = encodeURIComponent(part.toWellFormed());
  return [
    part,
    url,
    url.replaceAll('%20', '+'),
    new URLSearchParams({ '': part }).toString().slice(1),
    JSON.stringify(part).slice(1, -1),
  ];
}

/** Of the same length as `text`. */
function folded(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Which characters of a text are told to nobody. */
class Marks {
  private readonly text: string;
  private readonly isMarked: Uint8Array;
  /** Where each sequence of `MIN_PIECE` characters is that has not been found yet. */
  private readonly pieces = new Map<string, number[]>();
  /** By the lower half of their hashes: most pieces of a secret are ruled out without being cut out of it. */
  private readonly mayBePiece = new Uint8Array(65_536);

  constructor(private readonly original: string) {
    this.text = folded(original);
    this.isMarked = new Uint8Array(this.text.length);
    forEachPiece(this.text, (start, hash) => {
      this.mayBePiece[hash & 0xffff] = 1;
      const piece = this.text.slice(start, start + MIN_PIECE);
      const starts = this.pieces.get(piece);
      if (starts) starts.push(start);
      else this.pieces.set(piece, [start]);
    });
  }

  mark(form: string): void {
    if (form.length >= MIN_PIECE) this.markPieces(form);
    else this.markWhole(form);
  }

  redacted(): string {
    let redacted = '';
    for (let index = 0; index < this.original.length; index += 1) {
      if (this.isMarked[index] !== 1) redacted += this.original.charAt(index);
      else if (index === 0 || this.isMarked[index - 1] !== 1) redacted += REDACTED;
    }
    return redacted;
  }

  private markWhole(form: string): void {
    for (let at = this.text.indexOf(form); at >= 0; at = this.text.indexOf(form, at + 1)) this.cover(at, form.length);
  }

  private markPieces(form: string): void {
    forEachPiece(form, (start, hash) => {
      if (this.mayBePiece[hash & 0xffff] === 1) this.markPiece(form.slice(start, start + MIN_PIECE));
    });
  }

  private markPiece(piece: string): void {
    for (const at of this.pieces.get(piece) ?? []) this.cover(at, MIN_PIECE);
    this.pieces.delete(piece);
  }

  private cover(at: number, length: number): void {
    this.isMarked.fill(1, at, at + length);
  }
}

const BASE = 31;
const BASE_OF_FIRST = Array.from({ length: MIN_PIECE - 1 }).reduce<number>((power) => Math.imul(power, BASE), 1);

/** Each sequence of `MIN_PIECE` characters with a hash, which is computed from the one before. */
function forEachPiece(text: string, visit: (start: number, hash: number) => void): void {
  let hash = 0;
  for (let end = 0; end < text.length; end += 1) {
    const first = end - MIN_PIECE;
    if (first >= 0) hash -= Math.imul(text.charCodeAt(first), BASE_OF_FIRST);
    hash = (Math.imul(hash, BASE) + text.charCodeAt(end)) | 0;
    if (first >= -1) visit(first + 1, hash);
  }
}
