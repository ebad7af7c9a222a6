/** The content of a data URL (RFC 2397). */
interface DataUrlContent {
  /** Empty when the URL declares none. */
  readonly mediaType: string;
  readonly data: Buffer;
}

const SCHEME = /^data:/i;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** The longest declaration before the comma. */
const MAX_HEAD_LENGTH = 300;

export function isDataUrl(url: string): boolean {
  return SCHEME.test(url);
}

/** @returns null when the text is not a data URL, or its content does not have the declared encoding */
export function readDataUrl(url: string): DataUrlContent | null {
  const comma = url.slice(0, MAX_HEAD_LENGTH).indexOf(',');
  if (!isDataUrl(url) || comma < 0) return null;
  const head = url.slice('data:'.length, comma);
  const isBase64 = /;\s*base64\s*$/i.test(head);
  const data = isBase64 ? decodedBase64(url.slice(comma + 1)) : decodedText(url.slice(comma + 1));
  return data && { mediaType: head.split(';', 1)[0]?.trim() ?? '', data };
}

/** Checks the text, because Node's decoder skips invalid characters and would return a different file. */
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
