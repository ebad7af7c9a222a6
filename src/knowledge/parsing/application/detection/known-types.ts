import type { DocumentFormat } from '../../domain/parsed-document.js';

type KnownFormat = readonly [name: string, label: string, extensions: string, contentTypes: string];

const OFFICE = 'application/vnd.openxmlformats-officedocument';
const JSON_VARIANTS = 'application/ld+json application/x-ndjson application/jsonl';
/** The label is what a person calls one document of the format. */
const FORMATS: Readonly<Record<DocumentFormat, KnownFormat>> = {
  text: ['text', 'plain text', 'txt text log', 'text/plain'],
  markdown: ['Markdown', 'Markdown', 'md markdown mdx', 'text/markdown text/x-markdown'],
  html: ['HTML', 'HTML', 'html htm xhtml', 'text/html application/xhtml+xml'],
  pdf: ['PDF', 'a PDF document', 'pdf', 'application/pdf application/x-pdf'],
  docx: ['DOCX', 'a Word document', 'docx docm dotx', `${OFFICE}.wordprocessingml.document`],
  pptx: ['PPTX', 'a PowerPoint presentation', 'pptx pptm ppsx', `${OFFICE}.presentationml.presentation`],
  xlsx: ['XLSX', 'an Excel workbook', 'xlsx xlsm', `${OFFICE}.spreadsheetml.sheet`],
  csv: ['CSV', 'CSV', 'csv tsv tab', 'text/csv application/csv text/tab-separated-values'],
  json: ['JSON', 'JSON', 'json jsonl ndjson', `application/json text/json ${JSON_VARIANTS}`],
};
/** These have no bytes of their own by which they could be detected. */
const TEXT_FORMATS: readonly DocumentFormat[] = ['text', 'markdown', 'html', 'csv', 'json'];

/** Other kinds of files: what a person calls one, and the usual extensions. */
const OTHER_KINDS: readonly (readonly [label: string, extensions: string])[] = [
  ['a PNG image', 'png'],
  ['a JPEG image', 'jpg jpeg'],
  ['a GIF image', 'gif'],
  ['a WebP image', 'webp'],
  ['a BMP image', 'bmp'],
  ['a TIFF image', 'tif tiff'],
  ['a HEIC image', 'heic'],
  ['an SVG image', 'svg'],
  ['an icon', 'ico'],
  ['an audio file', 'mp3 wav ogg m4a flac'],
  ['a video', 'mp4 mov avi mkv webm'],
  ['a ZIP archive', 'zip'],
  ['a gzip archive', 'gz'],
  ['a tar archive', 'tar'],
  ['a RAR archive', 'rar'],
  ['a 7-Zip archive', '7z'],
  ['a program', 'exe dll elf macho'],
  ['an old Word document (.doc)', 'doc'],
  ['an old Excel workbook (.xls)', 'xls'],
  ['an old PowerPoint presentation (.ppt)', 'ppt'],
  ['an OpenDocument text', 'odt'],
  ['an OpenDocument spreadsheet', 'ods'],
  ['an OpenDocument presentation', 'odp'],
  ['an e-book', 'epub'],
  ['an RTF document', 'rtf'],
  ['XML', 'xml'],
  ['a PostScript document', 'ps'],
  ['a database', 'sqlite'],
];

const ALL_FORMATS = Object.keys(FORMATS) as DocumentFormat[];
const FORMAT_BY_EXTENSION = indexed(ALL_FORMATS.map((format) => [format, FORMATS[format][2]]));
const FORMAT_BY_CONTENT_TYPE = indexed(ALL_FORMATS.map((format) => [format, FORMATS[format][3]]));
const LABEL_BY_EXTENSION = indexed(OTHER_KINDS);

function indexed<Value>(entries: readonly (readonly [Value, keys: string])[]): ReadonlyMap<string, Value> {
  return new Map(entries.flatMap(([value, keys]) => keys.split(' ').map((key) => [key, value] as const)));
}

export const formatName = (format: DocumentFormat): string => FORMATS[format][0];
export const formatLabel = (format: DocumentFormat): string => FORMATS[format][1];

/** What a person calls a file whose usual extension is this. */
export function labelOf(extension: string): string {
  return LABEL_BY_EXTENSION.get(extension) ?? `a file of the type ${extension.toUpperCase()}`;
}

/** What a name or a content type declares: a format, another kind of file, or nothing. */
export type DeclaredKind = DocumentFormat | 'other' | undefined;

export function kindOfName(name: string | null): DeclaredKind {
  const extension = /\.([a-z0-9]{1,10})$/i.exec(name ?? '')?.[1]?.toLowerCase() ?? '';
  return FORMAT_BY_EXTENSION.get(extension) ?? (LABEL_BY_EXTENSION.has(extension) ? 'other' : undefined);
}

/** Types that browsers and servers send for any file, such as `application/octet-stream`, declare nothing. */
export function kindOfContentType(contentType: string | null): DeclaredKind {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return FORMAT_BY_CONTENT_TYPE.get(type) ?? (/^(?:image|audio|video)\//.test(type) ? 'other' : undefined);
}

export function isTextFormat(declared: DeclaredKind): declared is DocumentFormat {
  return declared !== undefined && declared !== 'other' && TEXT_FORMATS.includes(declared);
}
