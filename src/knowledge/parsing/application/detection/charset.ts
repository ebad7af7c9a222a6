import chardet from 'chardet';

/** Browsers look for `<meta charset>` in 1,024 bytes; generated heads are longer. */
const META_BYTES = 4_096;
/** Text in another encoding does not have this many valid UTF-8 sequences by chance. */
const SURE_SEQUENCES = 4;
const SAMPLE_BYTES = 64 * 1024;
/** Encodings whose texts may be valid UTF-8 as well. */
const SEVEN_BIT = /^(utf-16|iso-2022)/;

/** @param declared a content type with its parameters. @returns the text without its byte order mark */
export function decode(content: Buffer, declared: string | null, isHtml: boolean): string {
  return new TextDecoder(encodingOf(content, declared, isHtml)).decode(content);
}

export function encodingOf(content: Buffer, declared: string | null, isHtml: boolean): string {
  const marked = byteOrderMark(content) ?? unmarkedUtf16(content);
  if (marked !== undefined) return marked;
  const labels = [charsetParameter(declared), isHtml ? metaCharset(content) : undefined];
  const labelled = labels.map(knownEncoding).find((encoding) => encoding !== undefined);
  const sequences = validUtf8Sequences(content);
  if (labelled !== undefined && (sequences < SURE_SEQUENCES || SEVEN_BIT.test(labelled))) return labelled;
  if (sequences < 0) return guessed(content) ?? 'windows-1252';
  const isIso2022 = content.includes('\x1b$B') || content.includes('\x1b$@');
  return isIso2022 ? 'iso-2022-jp' : 'utf-8';
}

function knownEncoding(label: string | undefined): string | undefined {
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
  // In UTF-16 the label would not be readable as ASCII.
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

function byteOrderMark(content: Buffer): string | undefined {
  if (content.toString('hex', 0, 3) === 'efbbbf') return 'utf-8';
  return { fffe: 'utf-16le', feff: 'utf-16be' }[content.toString('hex', 0, 2)];
}

/** Text of any language has spaces, line ends and digits. In UTF-16 one of their two bytes is zero, always the same one. */
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

/** @returns at most `SURE_SEQUENCES`; -1 if the content is not UTF-8. The last character may be cut off. */
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

function guessed(content: Buffer): string | undefined {
  // Without tags, whose names would count as English.
  const sample = content.toString('latin1', 0, SAMPLE_BYTES).replace(/<[^<>]*>/g, ' ');
  const encodings = chardet.analyse(Buffer.from(sample, 'latin1')).map(({ name }) => knownEncoding(name));
  return encodings.find((encoding) => encoding !== undefined && !encoding.startsWith('utf-'));
}
