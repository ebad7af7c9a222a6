import { ContentTypeMismatch } from './files.errors.js';

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export type ImageType = (typeof IMAGE_TYPES)[number];
export const PDF_TYPE = 'application/pdf';
export const UNKNOWN_TYPE = 'application/octet-stream';

type RecognizedType = ImageType | typeof PDF_TYPE;

/** Types that say nothing about the content: none, and those that clients send for unknown files. */
const UNSPECIFIC_TYPES = ['', UNKNOWN_TYPE, 'binary/octet-stream'];
const TOKEN = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}$/;

/** A PDF may begin with other bytes; readers search its signature in the first 1,024. */
const PDF_SIGNATURE_WITHIN = 1_024;

/** The type that the signature in the first bytes shows; undefined for files without one, such as text. */
export function recognized(head: Buffer): RecognizedType | undefined {
  const starts = (hex: string, at = 0): boolean =>
    head.subarray(at, at + hex.length / 2).equals(Buffer.from(hex, 'hex'));
  if (starts('89504e470d0a1a0a')) return 'image/png';
  if (starts('ffd8ff')) return 'image/jpeg';
  if (starts('474946383761') || starts('474946383961')) return 'image/gif';
  if (starts('52494646') && starts('57454250', 8)) return 'image/webp';
  if (head.subarray(0, PDF_SIGNATURE_WITHIN).includes('%PDF-')) return PDF_TYPE;
  return undefined;
}

/** The media type in lower case without parameters; `application/octet-stream` when it is invalid. */
export function mediaTypeOf(contentType: string): string {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase().replace('image/jpg', 'image/jpeg') ?? '';
  return TOKEN.test(type) ? type : UNKNOWN_TYPE;
}

/** The type of a file. The declaration is trusted, except for images and PDFs, which their bytes must confirm. @throws ContentTypeMismatch */
export function checkedType(declared: string, head: Buffer): string {
  const type = mediaTypeOf(declared);
  const shown = recognized(head);
  if (UNSPECIFIC_TYPES.includes(type)) return shown ?? UNKNOWN_TYPE;
  const isConfirmable = isRecognizable(type);
  // A PDF signature that is not at the start may be part of a text.
  const startsAsPdf = head.subarray(0, 5).equals(Buffer.from('%PDF-'));
  const proven = shown === PDF_TYPE && !startsAsPdf && !isConfirmable ? undefined : shown;
  if (isConfirmable ? proven !== type : proven !== undefined) throw new ContentTypeMismatch(type, proven);
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
