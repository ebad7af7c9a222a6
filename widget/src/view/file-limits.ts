import { fill, type Strings } from './strings.js';

/** What the service accepts with a message. */
const MAX_FILES = 20;
const MEGABYTE = 1024 * 1024;
const MAX_BYTES = 20 * MEGABYTE;
const MAX_TEXT_BYTES = MEGABYTE;
/** Images and PDFs of a message together; the service counts 28 MB after their encoding, which adds a third. */
const MAX_MEDIA_BYTES = 21 * MEGABYTE;

const MEDIA_TYPES: ReadonlySet<string> = new Set([
  ...['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
  'application/pdf',
]);
/** Texts whose type does not begin with `text/`. */
const TEXT_TYPES: ReadonlySet<string> = new Set([
  ...['application/json', 'application/xml', 'application/yaml', 'application/x-yaml', 'application/toml'],
  ...['application/x-ndjson', 'application/jsonl', 'application/javascript', 'application/x-javascript'],
  ...['application/typescript', 'application/sql', 'application/graphql', 'application/x-sh'],
  'application/x-httpd-php',
]);
/** Texts to which systems give no type, or a wrong one. */
const TEXT_NAMES =
  /\.(txt|md|markdown|csv|tsv|log|json|jsonl|ndjson|xml|ya?ml|toml|ini|cfg|conf|env|html?|css|[cm]?[jt]sx?|py|rb|go|rs|java|kt|c|h|cc|cpp|hpp|cs|php|swift|sh|sql|graphql|tex|srt|vtt|diff|patch)$/i;
const TEXT_ENDINGS = ['.txt', '.md', '.csv', '.tsv', '.log', '.json', '.jsonl', '.xml', '.yaml', '.yml', '.html'];

/** For the picker of the system: what is offered first. */
export const ACCEPT = [...MEDIA_TYPES, 'text/*', ...TEXT_ENDINGS].join(',');

/** Whether a picture of it can be shown; not for SVG, which is a text for the service. */
export function isPicture(file: File): boolean {
  return MEDIA_TYPES.has(typeOf(file)) && typeOf(file).startsWith('image/');
}

/** A size in the visitor's language. */
export function sizeText(bytes: number, locale: string): string {
  const [unit, value] =
    bytes >= MEGABYTE ? (['megabyte', bytes / MEGABYTE] as const) : (['kilobyte', Math.max(1, bytes / 1024)] as const);
  const digits = value < 10 && unit === 'megabyte' ? 1 : 0;
  return new Intl.NumberFormat(locale, { style: 'unit', unit, maximumFractionDigits: digits }).format(value);
}

export function limitsText(strings: Strings, locale: string): string {
  const count = new Intl.NumberFormat(locale).format(MAX_FILES);
  return fill(strings.attachLimits, { count, size: sizeText(MAX_BYTES, locale) });
}

/**
 * Why the service would refuse a file, for the visitor; null if it takes it.
 * @param others the files that the message has
 */
export function refusalOf(file: File, others: readonly File[], strings: Strings, locale: string): string | null {
  const { name, size } = file;
  if (others.length >= MAX_FILES)
    return fill(strings.tooManyFiles, { count: new Intl.NumberFormat(locale).format(MAX_FILES) });
  if (size === 0) return fill(strings.fileEmpty, { name });
  const kind = kindOf(file);
  if (kind === 'other') return fill(strings.fileType, { name });
  const media = others.filter((each) => kindOf(each) === 'media').reduce((sum, each) => sum + each.size, 0);
  const most = kind === 'text' ? MAX_TEXT_BYTES : Math.min(MAX_BYTES, MAX_MEDIA_BYTES - media);
  return size > most ? fill(strings.fileTooLarge, { name, size: sizeText(most, locale) }) : null;
}

/** Some systems give a text a type of another program, under which the service would not read it. */
export function withReadableType(file: File): File {
  const { name, type } = file;
  if (kindOf(file) !== 'text' || type === '' || isTextType(typeOf(file))) return file;
  return new File([file], name, { type: 'text/plain' });
}

function typeOf({ type }: File): string {
  return type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

function isTextType(type: string): boolean {
  return type.startsWith('text/') || TEXT_TYPES.has(type) || /\+(json|xml|yaml)$/.test(type);
}

function kindOf(file: File): 'media' | 'text' | 'other' {
  const type = typeOf(file);
  if (MEDIA_TYPES.has(type)) return 'media';
  // The service reads a file without a type as what its content is.
  return type === '' || isTextType(type) || TEXT_NAMES.test(file.name) ? 'text' : 'other';
}
