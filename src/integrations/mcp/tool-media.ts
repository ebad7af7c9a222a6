import { isImageType, mediaTypeOf, recognized } from '../../files/index.js';
import type { ModelMedia } from '../../models/index.js';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const AUDIO = /^audio\/[\w.+-]+$/;
const HEAD_CHARACTERS = 2_048;

export interface EncodedMedia {
  /** Without extension. */
  readonly name: string;
  /** As the server has it. */
  readonly mimeType: string | undefined;
  readonly data: string;
}

/**
 * What a model can be shown; undefined for everything else, also for what is no base64. Images and PDFs are what their bytes
 * say: providers refuse a whole request for one image under a wrong type.
 */
export function mediaOf({ name, mimeType = '', data }: EncodedMedia): ModelMedia | undefined {
  const base64 = data.replace(/\s+/g, '');
  if (!BASE64.test(base64) || base64.length % 4 === 1) return undefined;
  const padded = base64.padEnd(Math.ceil(base64.length / 4) * 4, '=');
  const declared = mediaTypeOf(mimeType);
  if (AUDIO.test(declared)) return { kind: 'audio', name, mediaType: declared, data: padded };
  const type = recognized(Buffer.from(padded.slice(0, HEAD_CHARACTERS), 'base64'));
  if (type === undefined) return undefined;
  if (type === 'application/pdf') return { kind: 'pdf', name: `${name}.pdf`, mediaType: type, data: padded };
  return isImageType(type) ? { kind: 'image', name, mediaType: type, data: padded } : undefined;
}
