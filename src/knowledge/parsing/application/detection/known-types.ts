import type { DocumentFormat } from '../../domain/parsed-document.js';

interface KnownFormat {
  readonly name: string;
  /** What a person calls one document of the format. */
  readonly label: string;
  readonly extensions: string;
  readonly contentTypes: string;
  /** Text formats have no bytes of their own by which they could be detected. */
  readonly isText?: true;
}

const OFFICE = 'application/vnd.openxmlformats-officedocument';
export const FORMATS: Readonly<Record<DocumentFormat, KnownFormat>> = {
  text: { name: 'text', label: 'plain text', extensions: 'txt text log', contentTypes: 'text/plain', isText: true },
  markdown: {
    name: 'Markdown',
    label: 'Markdown',
    extensions: 'md markdown mdx',
    contentTypes: 'text/markdown text/x-markdown',
    isText: true,
  },
  html: {
    name: 'HTML',
    label: 'HTML',
    extensions: 'html htm xhtml',
    contentTypes: 'text/html application/xhtml+xml',
    isText: true,
  },
  pdf: {
    name: 'PDF',
    label: 'a PDF document',
    extensions: 'pdf',
    contentTypes: 'application/pdf application/x-pdf',
  },
  docx: {
    name: 'DOCX',
    label: 'a Word document',
    extensions: 'docx docm dotx',
    contentTypes: `${OFFICE}.wordprocessingml.document`,
  },
  pptx: {
    name: 'PPTX',
    label: 'a PowerPoint presentation',
    extensions: 'pptx pptm ppsx',
    contentTypes: `${OFFICE}.presentationml.presentation`,
  },
  xlsx: {
    name: 'XLSX',
    label: 'an Excel workbook',
    extensions: 'xlsx xlsm',
    contentTypes: `${OFFICE}.spreadsheetml.sheet`,
  },
  csv: {
    name: 'CSV',
    label: 'CSV',
    extensions: 'csv tsv tab',
    contentTypes: 'text/csv application/csv text/tab-separated-values',
    isText: true,
  },
  json: {
    name: 'JSON',
    label: 'JSON',
    extensions: 'json jsonl ndjson',
    contentTypes: 'application/json text/json application/ld+json application/x-ndjson application/jsonl',
    isText: true,
  },
};

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

const FORMAT_NAMES = Object.keys(FORMATS) as DocumentFormat[];
const FORMAT_BY_EXTENSION = indexed(FORMAT_NAMES.map((format) => [format, FORMATS[format].extensions]));
const FORMAT_BY_CONTENT_TYPE = indexed(FORMAT_NAMES.map((format) => [format, FORMATS[format].contentTypes]));
const LABEL_BY_EXTENSION = indexed(OTHER_KINDS);

function indexed<Value>(entries: readonly (readonly [Value, keys: string])[]): ReadonlyMap<string, Value> {
  return new Map(entries.flatMap(([value, keys]) => keys.split(' ').map((key) => [key, value] as const)));
}

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
