import type { DocumentFormat } from '../../domain/parsed-document.js';

/** What a person calls them. */
export const FORMAT_LABELS: Readonly<Record<DocumentFormat, string>> = {
  text: 'plain text',
  markdown: 'Markdown',
  html: 'HTML',
  pdf: 'a PDF document',
  docx: 'a Word document',
  pptx: 'a PowerPoint presentation',
  xlsx: 'an Excel workbook',
  csv: 'CSV',
  json: 'JSON',
};
export const FORMAT_NAMES: Readonly<Record<DocumentFormat, string>> = {
  ...{
    text: 'text',
    markdown: 'Markdown',
    html: 'HTML',
    pdf: 'PDF',
    docx: 'DOCX',
    pptx: 'PPTX',
    xlsx: 'XLSX',
    csv: 'CSV',
    json: 'JSON',
  },
};

/** They look alike byte by byte: what they are is what they are said to be. */
export const TEXT_FORMATS: ReadonlySet<DocumentFormat> = new Set(['text', 'markdown', 'html', 'csv', 'json']);

const EXTENSIONS: Readonly<Record<string, DocumentFormat>> = {
  ...{
    txt: 'text',
    text: 'text',
    log: 'text',
    md: 'markdown',
    markdown: 'markdown',
    mdx: 'markdown',
    html: 'html',
    htm: 'html',
    xhtml: 'html',
  },
  ...{
    pdf: 'pdf',
    docx: 'docx',
    docm: 'docx',
    dotx: 'docx',
    pptx: 'pptx',
    pptm: 'pptx',
    ppsx: 'pptx',
    xlsx: 'xlsx',
    xlsm: 'xlsx',
  },
  ...{ csv: 'csv', tsv: 'csv', tab: 'csv', json: 'json', jsonl: 'json', ndjson: 'json' },
};

const OFFICE = 'application/vnd.openxmlformats-officedocument.';
const CONTENT_TYPES: Readonly<Record<string, DocumentFormat>> = {
  ...{
    'text/plain': 'text',
    'text/markdown': 'markdown',
    'text/x-markdown': 'markdown',
    'text/html': 'html',
    'application/xhtml+xml': 'html',
  },
  ...{
    'application/pdf': 'pdf',
    'application/x-pdf': 'pdf',
    'text/csv': 'csv',
    'application/csv': 'csv',
    'text/tab-separated-values': 'csv',
  },
  ...{
    'application/json': 'json',
    'text/json': 'json',
    'application/ld+json': 'json',
    'application/x-ndjson': 'json',
    'application/jsonl': 'json',
  },
  [`${OFFICE}wordprocessingml.document`]: 'docx',
  [`${OFFICE}presentationml.presentation`]: 'pptx',
  [`${OFFICE}spreadsheetml.sheet`]: 'xlsx',
};

/** Kinds of files that people know and that are none of the formats, by their extensions. */
const OTHERS: Readonly<Record<string, string>> = {
  ...{
    png: 'a PNG image',
    jpg: 'a JPEG image',
    jpeg: 'a JPEG image',
    gif: 'a GIF image',
    webp: 'a WebP image',
    bmp: 'a BMP image',
    tif: 'a TIFF image',
  },
  ...{
    tiff: 'a TIFF image',
    heic: 'a HEIC image',
    ico: 'an icon',
    svg: 'an SVG image',
    mp3: 'an audio file',
    wav: 'an audio file',
    ogg: 'an audio file',
  },
  ...{
    m4a: 'an audio file',
    flac: 'an audio file',
    mp4: 'a video',
    mov: 'a video',
    avi: 'a video',
    mkv: 'a video',
    webm: 'a video',
  },
  ...{
    zip: 'a ZIP archive',
    gz: 'a gzip archive',
    tar: 'a tar archive',
    rar: 'a RAR archive',
    '7z': 'a 7-Zip archive',
    exe: 'a program',
    dll: 'a program',
  },
  ...{ elf: 'a program', macho: 'a program', doc: 'an old Word document (.doc)', xls: 'an old Excel workbook (.xls)' },
  ...{
    ppt: 'an old PowerPoint presentation (.ppt)',
    odt: 'an OpenDocument text',
    ods: 'an OpenDocument spreadsheet',
    odp: 'an OpenDocument presentation',
  },
  ...{ epub: 'an e-book', rtf: 'an RTF document', xml: 'XML', ps: 'a PostScript document', sqlite: 'a database' },
};

/** How a person calls a kind of file whose usual extension is this. */
export function labelOf(extension: string): string {
  return OTHERS[extension] ?? `a file of the type ${extension.toUpperCase()}`;
}

/** What something says that a document is: a format, none of them, or nothing that tells. */
export type SaidKind = DocumentFormat | 'other' | undefined;

export function namedKind(name: string | null): SaidKind {
  const extension = /\.([a-z0-9]{1,10})$/i.exec(name ?? '')?.[1]?.toLowerCase() ?? '';
  if (Object.hasOwn(EXTENSIONS, extension)) return EXTENSIONS[extension];
  return Object.hasOwn(OTHERS, extension) ? 'other' : undefined;
}

/** Content types that browsers and servers give to anything tell nothing. */
export function declaredKind(contentType: string | null): SaidKind {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  if (Object.hasOwn(CONTENT_TYPES, type)) return CONTENT_TYPES[type];
  return /^(?:image|audio|video)\//.test(type) ? 'other' : undefined;
}
