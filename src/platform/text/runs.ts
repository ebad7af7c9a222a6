/** A part of a text between blanks and punctuation: a word, or a name of several parts. */
export interface Run {
  readonly text: string;
  readonly at: number;
  readonly isPlain: boolean;
}

const RUN = /[\p{L}\p{N}\p{M}_]+(?:[-./'’][\p{L}\p{N}\p{M}_]+)*/uy;
const PLAIN = /^[a-z0-9]+$/;

const BLANK = 0;
const LETTER = 1;
const UNDERSCORE = 2;
const JOINER = 3;
const OTHER = 4;
const KINDS = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (PLAIN.test(character)) return LETTER;
  if (character === '_') return UNDERSCORE;
  if ("-./'".includes(character)) return JOINER;
  // A folded text has no capital letters; the expression handles one.
  return /[A-Z]/.test(character) ? OTHER : BLANK;
});

/**
 * The next run of a folded text. A table classifies ASCII characters in a quarter of the time of the expression, which handles runs
 * with others.
 */
export function nextRun(folded: string, from: number): Run | null {
  for (let at = from; at < folded.length; at += 1) {
    const kind = kindAt(folded, at);
    if (kind === BLANK || kind === JOINER) continue;
    const run = kind === OTHER ? runAt(folded, at) : plainRunAt(folded, at);
    if (run) return run;
  }
  return null;
}

function plainRunAt(folded: string, at: number): Run | null {
  let isPlain = true;
  let end = at;
  for (; end < folded.length; end += 1) {
    const kind = kindAt(folded, end);
    if (kind === LETTER) continue;
    if (kind === OTHER) return runAt(folded, at);
    if (kind === BLANK) break;
    if (kind === JOINER) {
      const next = end + 1 < folded.length ? kindAt(folded, end + 1) : BLANK;
      if (next === OTHER) return runAt(folded, at);
      if (next !== LETTER && next !== UNDERSCORE) break;
    }
    isPlain = false;
  }
  return { text: folded.slice(at, end), at, isPlain };
}

function runAt(folded: string, at: number): Run | null {
  RUN.lastIndex = at;
  const text = RUN.exec(folded)?.[0];
  return text === undefined ? null : { text, at, isPlain: PLAIN.test(text) };
}

function kindAt(folded: string, at: number): number {
  return KINDS[folded.charCodeAt(at)] ?? OTHER;
}
