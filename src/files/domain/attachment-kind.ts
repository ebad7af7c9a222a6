import { type FetchedAttachment, refusedAttachment } from './attachment.js';
import { ContentTypeMismatch } from './files.errors.js';
import { agreedType, isImageType, isTextType, PDF_TYPE, UNKNOWN_TYPE } from './media-type.js';

/** Of the text that one attachment puts into the prompt: about 250,000 tokens. */
export const MAX_TEXT_BYTES = 1024 * 1024;

/** As which kind a model gets this content. */
export function asAttachment(declared: string, data: Buffer): FetchedAttachment {
  const type = typeOf(declared, data);
  if (type === undefined)
    return refusedAttachment('unsupported', `It is declared as ${declared}, but is something else.`);
  if (isImageType(type)) return { kind: 'image', mediaType: type, data };
  if (type === PDF_TYPE) return { kind: 'pdf', mediaType: type, data };
  const text = isTextType(type) || type === UNKNOWN_TYPE ? decodedText(data) : undefined;
  if (text === undefined) {
    return refusedAttachment(
      'unsupported',
      'It is neither an image (PNG, JPEG, GIF, WebP), nor a PDF, nor text in UTF-8 or UTF-16.',
    );
  }
  // Decoded it may show a mark that its encoding hid, and would not be taken for text when it is read again.
  if (typeOf(type, text) !== type)
    return refusedAttachment('unsupported', `It is declared as ${declared}, but is something else.`);
  if (text.length > MAX_TEXT_BYTES) {
    return refusedAttachment('too_large', `Its text is larger than ${MAX_TEXT_BYTES} bytes.`);
  }
  return { kind: 'text', mediaType: type === UNKNOWN_TYPE ? 'text/plain' : type, data: text };
}

function typeOf(declared: string, data: Buffer): string | undefined {
  try {
    return agreedType(declared, data.subarray(0, 4_096));
  } catch (error) {
    if (error instanceof ContentTypeMismatch) return undefined;
    throw error;
  }
}

/** As UTF-8; undefined for what is no text. */
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
