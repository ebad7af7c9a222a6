/** Content that stands in its URL (RFC 2397). */
export interface DataUrlContent {
  /** As the URL declares it; empty where it does not. */
  readonly mediaType: string;
  readonly data: Buffer;
}

const SCHEME = /^data:/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** The declaration before the comma; what is longer is none. */
const MAX_HEAD_LENGTH = 300;

export function isDataUrl(url: string): boolean {
  return SCHEME.test(url);
}

/** @returns null for what is no data URL, or holds something else than it says */
export function readDataUrl(url: string): DataUrlContent | null {
  const comma = url.slice(0, MAX_HEAD_LENGTH).indexOf(',');
  if (!isDataUrl(url) || comma < 0) return null;
  const head = url.slice('data:'.length, comma);
  const isBase64 = /;\s*base64\s*$/i.test(head);
  const data = isBase64 ? decodedBase64(url.slice(comma + 1)) : decodedText(url.slice(comma + 1));
  return data && { mediaType: head.split(';', 1)[0]?.trim() ?? '', data };
}

/** Node's decoder skips what is not base64; a damaged file must not pass for another one. */
function decodedBase64(text: string): Buffer | null {
  const plain = (text.includes('%') ? unescaped(text) : text)?.replace(/\s+/g, '');
  return plain !== undefined && BASE64.test(plain) ? Buffer.from(plain, 'base64') : null;
}

function decodedText(text: string): Buffer | null {
  const plain = unescaped(text);
  return plain === undefined ? null : Buffer.from(plain, 'utf8');
}

function unescaped(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
