import { ContentTypeMismatch } from './files.errors.js';
import { checkedType, type ImageType, isImageType, isTextType, PDF_TYPE, UNKNOWN_TYPE } from './media-type.js';

export interface AttachmentReference {
  readonly url: string;
  readonly contentType: string;
  readonly name: string;
}

export type AttachmentRefusal =
  /** Not a supported image, a PDF or text; or not what it is declared to be. */
  | 'unsupported'
  | 'too_large'
  /** Removed, of another organization, not public, or not responding. */
  | 'unreachable';

/** An attachment for a model, or why there is none. `message` is public. */
export type FetchedAttachment =
  | { readonly kind: 'image'; readonly mediaType: ImageType; readonly data: Buffer }
  | { readonly kind: 'pdf'; readonly mediaType: typeof PDF_TYPE; readonly data: Buffer }
  /** `data` is valid UTF-8 without a byte-order mark and without U+0000. */
  | { readonly kind: 'text'; readonly mediaType: string; readonly data: Buffer }
  | { readonly kind: 'refused'; readonly reason: AttachmentRefusal; readonly message: string };

export function refusedAttachment(reason: AttachmentRefusal, message: string): FetchedAttachment {
  return { kind: 'refused', reason, message };
}

/** The longest text of one attachment, about 250,000 tokens of the prompt. */
const MAX_TEXT_BYTES = 1024 * 1024;

const NEITHER = 'It is neither an image (PNG, JPEG, GIF, WebP), nor a PDF, nor text in UTF-8 or UTF-16.';

/** Classifies the content as an image, a PDF or text for the model, or refuses it. */
export function classifyAttachment(declared: string, data: Buffer): FetchedAttachment {
  const mislabelled = refusedAttachment('unsupported', `It is declared as ${declared}, but is something else.`);
  const type = typeOf(declared, data);
  if (type === undefined) return mislabelled;
  if (isImageType(type)) return { kind: 'image', mediaType: type, data };
  if (type === PDF_TYPE) return { kind: 'pdf', mediaType: type, data };
  const text = isTextType(type) || type === UNKNOWN_TYPE ? decodedText(data) : undefined;
  if (text === undefined) return refusedAttachment('unsupported', NEITHER);
  // The encoding may have hidden the signature of another type, as which the decoded text would be recognized later.
  if (typeOf(type, text) !== type) return mislabelled;
  if (text.length > MAX_TEXT_BYTES) {
    return refusedAttachment('too_large', `Its text is larger than ${MAX_TEXT_BYTES} bytes.`);
  }
  return { kind: 'text', mediaType: type === UNKNOWN_TYPE ? 'text/plain' : type, data: text };
}

function typeOf(declared: string, data: Buffer): string | undefined {
  try {
    return checkedType(declared, data.subarray(0, 4_096));
  } catch (error) {
    if (error instanceof ContentTypeMismatch) return undefined;
    throw error;
  }
}

/** As UTF-8; undefined for content that is not text. */
function decodedText(data: Buffer): Buffer | undefined {
  const encoding =
    data[0] === 0xff && data[1] === 0xfe ? 'utf-16le' : data[0] === 0xfe && data[1] === 0xff ? 'utf-16be' : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(data);
    return text.includes('\0') ? undefined : Buffer.from(text, 'utf8');
  } catch {
    return undefined;
  }
}
