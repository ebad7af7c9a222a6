import type { ImageType, PDF_TYPE } from './media-type.js';

/** An attachment in a message. */
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
