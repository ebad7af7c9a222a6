type Boundary = '\n' | ' ' | 'item' | 'sentence' | 'word';

/** The size of a chunk's text, in letters of a Latin script; a Chinese letter counts as two. */
export const CHUNK_SIZE = { target: 1_200, max: 2_000 } as const;

const WIDE = /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff00-\uff60]/g;

export function sizeOf(text: string): number {
  return text.length + (text.match(WIDE)?.length ?? 0);
}

/** The end of a sentence in any script, with the marks that close a quotation; not the dot of a number or of an abbreviation. */
const SENTENCE =
  /(?:(?<!\d|(?<!\p{L})(?:\p{L}|e\.g|i\.e|vs|etc|Dr|Mr|Mrs|Ms|Nr|ca|bzw))\.|[!?…])["'”’»)\]]*(?=\s+[^\p{Ll}\s])|[。！？｡؟।။៕]["'”’»」』）]*/gu;
/** The end of a line before an item of a list. */
const ITEM = /\n(?=\s*(?:[-*•]|\d+[.)])\s)/g;
const WORDS = new Intl.Segmenter('en', { granularity: 'word' });
/** Only so many last characters are searched for a word, so that a text without words is cut in linear time. */
const LOOK_BACK = 80;

/** Splits a text into parts of at most `limit`, at the first of the boundaries that a part has, or else between two words. */
export function* splitText(
  text: string,
  boundaries: readonly Boundary[],
  limit: number = CHUNK_SIZE.target,
): Generator<string> {
  let rest = text.trim();
  let at = 0;
  while (rest.length - at > 0) {
    const end = at + fitting(rest, at, limit);
    const cut = end >= rest.length ? rest.length : cutAt(rest, at, end, boundaries);
    const part = rest.slice(at, cut).trim();
    if (part !== '') yield part;
    at = cut;
    if (at > 1_000_000) [rest, at] = [rest.slice(at), 0];
  }
}

/** How many characters after `at` have at most the size `limit`. */
function fitting(text: string, at: number, limit: number): number {
  const part = text.slice(at, at + limit);
  const size = sizeOf(part);
  if (size <= limit) return part.length;
  // Exact if wide letters are spread evenly; otherwise the part is a little shorter than it could be.
  let length = Math.max(1, Math.floor((part.length * limit) / size));
  while (length > 1 && sizeOf(part.slice(0, length)) > limit) length = Math.floor(length * 0.9);
  return Math.max(length, 1);
}

function cutAt(text: string, from: number, end: number, boundaries: readonly Boundary[]): number {
  const part = text.slice(from, end);
  for (const boundary of boundaries) {
    const cut = lastBoundary(part, boundary);
    // A cut near the beginning leaves a very short part, which is better only than a sentence in two parts.
    if (cut > part.length / 3 || (cut > 0 && boundary === 'sentence' && endsSoon(text, from + cut, part.length)))
      return from + cut;
  }
  const lastWord = lastSegment(part);
  const cut = lastWord > part.length / 2 ? from + lastWord : end;
  const isInPair = cut > from + 1 && (text.codePointAt(cut - 1) ?? 0) > 0xffff;
  return isInPair ? cut - 1 : cut;
}

function lastBoundary(part: string, boundary: Boundary): number {
  if (boundary === '\n' || boundary === ' ') return part.lastIndexOf(boundary) + 1;
  if (boundary === 'word') return Math.max(part.lastIndexOf(' '), part.lastIndexOf('\u3000')) + 1;
  let last = 0;
  for (const { 0: mark, index } of part.matchAll(boundary === 'item' ? ITEM : SENTENCE)) last = index + mark.length;
  return last;
}

/** Whether the sentence that begins at `from` fits into one part. */
function endsSoon(text: string, from: number, length: number): boolean {
  const next = text.slice(from, from + length);
  return from + length >= text.length || next.search(SENTENCE) >= 0 || next.includes('\n');
}

/** The start of the last word, which the end of the part may have cut. */
function lastSegment(part: string): number {
  const start = Math.max(0, part.length - LOOK_BACK);
  let last = part.length;
  for (const { index } of WORDS.segment(part.slice(start))) last = start + index;
  return last;
}
