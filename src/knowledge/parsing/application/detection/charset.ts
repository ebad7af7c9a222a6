import chardet from 'chardet';

/** Browsers read no further for `<meta charset>`; generated heads are longer than theirs. */
const META_BYTES = 4_096;
/** As many characters that are UTF-8 by chance do not occur. */
const SURE_SEQUENCES = 4;
/** Enough to tell languages apart. */
const SAMPLE_BYTES = 64 * 1024;
/** Encodings of which valid UTF-8 is part, or whose every text is valid UTF-8. */
const SEVEN_BIT = /^(utf-16|iso-2022)/;

/** @param declared a content type with its parameters. @returns the text without its byte order mark */
export function decode(content: Buffer, declared: string | null, isHtml: boolean): string {
  return new TextDecoder(encodingOf(content, declared, isHtml)).decode(content);
}

export function encodingOf(content: Buffer, declared: string | null, isHtml: boolean): string {
  const mark = markOf(content) ?? unmarkedUtf16(content);
  if (mark !== undefined) return mark;
  const labels = [charsetParameter(declared), isHtml ? metaCharset(content) : undefined];
  const said = labels.map(known).find((encoding) => encoding !== undefined);
  const sequences = validUtf8Sequences(content);
  if (said !== undefined && (sequences < SURE_SEQUENCES || SEVEN_BIT.test(said))) return said;
  if (sequences >= 0) return isEscaped(content) ? 'iso-2022-jp' : 'utf-8';
  return detected(content) ?? 'windows-1252';
}

function known(label: string | undefined): string | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

function charsetParameter(contentType: string | null): string | undefined {
  return /;\s*charset\s*=\s*["']?([\w:.-]+)/i.exec(contentType ?? '')?.[1];
}

function metaCharset(content: Buffer): string | undefined {
  const head = content.toString('latin1', 0, META_BYTES);
  const label =
    /<meta\s[^>]{0,500}?charset\s*=\s*["']?([\w:.-]+)/i.exec(head)?.[1] ??
    /^<\?xml[^>]{0,200}encoding\s*=\s*["']([\w:.-]+)/i.exec(head)?.[1];
  // It could not have been read as ASCII if it were so.
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

function markOf(content: Buffer): string | undefined {
  if (content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf) return 'utf-8';
  if (content[0] === 0xff && content[1] === 0xfe) return 'utf-16le';
  return content[0] === 0xfe && content[1] === 0xff ? 'utf-16be' : undefined;
}

/** Text of any language has spaces, line ends and digits, of whose two bytes one is zero: always the same one. */
function unmarkedUtf16(content: Buffer): string | undefined {
  const length = Math.min(content.length, SAMPLE_BYTES);
  const zeros = [0, 0];
  for (let index = 0; index < length; index += 1)
    if (content[index] === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const many = length / 40;
  if (odd > many && even === 0) return 'utf-16le';
  return even > many && odd === 0 ? 'utf-16be' : undefined;
}

/** -1 where it is not UTF-8 at all. The last character may be cut off. */
function validUtf8Sequences(content: Buffer): number {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(content, { stream: true });
  } catch {
    return -1;
  }
  let sequences = 0;
  for (const byte of content) {
    if (byte >= 0xc0) sequences += 1;
    if (sequences >= SURE_SEQUENCES) break;
  }
  return sequences;
}

/** Of the encodings in seven bits, the one that is still met with. */
function isEscaped(content: Buffer): boolean {
  return content.includes('\x1b$B') || content.includes('\x1b$@');
}

function detected(content: Buffer): string | undefined {
  // The names of tags would speak for English.
  const sample = content.toString('latin1', 0, SAMPLE_BYTES).replace(/<[^<>]*>/g, ' ');
  for (const { name } of chardet.analyse(Buffer.from(sample, 'latin1'))) {
    const encoding = known(name);
    // UTF-8 is ruled out by now, and UTF-16 shows by its zeros.
    if (encoding !== undefined && !encoding.startsWith('utf-')) return encoding;
  }
  return undefined;
}
