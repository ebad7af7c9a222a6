import { ContentTypeMismatch } from './files.errors.js';

export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];
export const PDF_TYPE = 'application/pdf';
export const UNKNOWN_TYPE = 'application/octet-stream';

type RecognizedType = ImageType | typeof PDF_TYPE;

/** Says nothing about the content: what is left out, and what clients send for what they do not know. */
const NO_TYPES = ['', UNKNOWN_TYPE, 'binary/octet-stream'];
const TOKEN = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}$/;

/** A PDF may begin with something else; readers look for its mark in the first 1,024 bytes. */
const PDF_MARK_WITHIN = 1_024;

/** What the first bytes of a file show it to be; undefined for what has no mark, such as text. */
export function recognized(head: Buffer): RecognizedType | undefined {
  const starts = (hex: string, at = 0): boolean =>
    head.subarray(at, at + hex.length / 2).equals(Buffer.from(hex, 'hex'));
  if (starts('89504e470d0a1a0a')) return 'image/png';
  if (starts('ffd8ff')) return 'image/jpeg';
  if (starts('474946383761') || starts('474946383961')) return 'image/gif';
  if (starts('52494646') && starts('57454250', 8)) return 'image/webp';
  if (head.subarray(0, PDF_MARK_WITHIN).includes('%PDF-')) return PDF_TYPE;
  return undefined;
}

/** A media type without its parameters, in lower case; `application/octet-stream` for what is none. */
export function mediaTypeOf(contentType: string): string {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase().replace('image/jpg', 'image/jpeg') ?? '';
  return TOKEN.test(type) ? type : UNKNOWN_TYPE;
}

/**
 * The type of a file of which the client says `declared` and whose bytes begin with `head`. The client is
 * believed, except about images and PDFs, whose bytes tell.
 * @throws ContentTypeMismatch
 */
export function agreedType(declared: string, head: Buffer): string {
  const type = mediaTypeOf(declared);
  const shown = recognized(head);
  if (NO_TYPES.includes(type)) return shown ?? UNKNOWN_TYPE;
  const isTold = isRecognizable(type);
  // A PDF mark further on is no proof: a text may well speak of one.
  const shows = shown === PDF_TYPE && !head.subarray(0, 5).equals(Buffer.from('%PDF-')) && !isTold ? undefined : shown;
  if (isTold ? shows !== type : shows !== undefined) throw new ContentTypeMismatch(type, shows);
  return type;
}

function isRecognizable(type: string): type is RecognizedType {
  return type === PDF_TYPE || isImageType(type);
}

export function isImageType(type: string): type is ImageType {
  return IMAGE_TYPES.some((image) => image === type);
}

const TEXT_TYPES = [
  ...['application/json', 'application/xml', 'application/yaml', 'application/x-yaml', 'application/toml'],
  ...['application/x-ndjson', 'application/jsonl', 'application/javascript', 'application/x-javascript'],
  ...['application/typescript', 'application/sql', 'application/graphql', 'application/x-sh'],
  'application/x-httpd-php',
];

export function isTextType(type: string): boolean {
  return type.startsWith('text/') || TEXT_TYPES.includes(type) || /\+(json|xml|yaml)$/.test(type);
}
