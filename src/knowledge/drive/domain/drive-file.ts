import { z } from 'zod';
import type { Stored } from '../../../platform/stored-json/index.js';

/** An entry of a drive, as the drive last described it. */
export interface DriveFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly isTrashed: boolean;
  /** In bytes; null for the drive's own documents. */
  readonly size: number | null;
  /** Where a person can open it; only https. */
  readonly url: string | null;
  readonly parents: readonly string[];
  /** The target of a shortcut. */
  readonly targetId: string | null;
  /** Changes with the content, the name and the type. */
  readonly fingerprint: string;
}

export const selectedFile = z.object({
  id: z.string(),
  name: z.string(),
  mimeType: z.string(),
  kind: z.enum(['file', 'folder']),
});
export type SelectedFile = Stored<typeof selectedFile>;

export const FOLDER = 'application/vnd.google-apps.folder';
const SHORTCUT = 'application/vnd.google-apps.shortcut';

/** Formats in which the drive's own documents are exported. The first that works is used. */
const EXPORTS: ReadonlyMap<string, readonly string[]> = new Map([
  // Markdown keeps headings and tables. Plain text is smaller, for documents above the drive's export limit.
  ['application/vnd.google-apps.document', ['text/markdown', 'text/plain']],
  // A workbook has all sheets, CSV only the first.
  [
    'application/vnd.google-apps.spreadsheet',
    ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'text/csv'],
  ],
  ['application/vnd.google-apps.presentation', ['text/plain']],
]);

const READ_TYPES = new Set([
  'application/pdf',
  'application/json',
  'application/xhtml+xml',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
]);
/** For files that were uploaded without a type. */
const READ_EXTENSION = /\.(?:txt|md|markdown|html?|pdf|docx|pptx|xlsx|csv|json)$/i;

export type EntryKind = 'folder' | 'shortcut' | 'file';

export function kindOf({ mimeType }: Pick<DriveFile, 'mimeType'>): EntryKind {
  if (mimeType === FOLDER) return 'folder';
  return mimeType === SHORTCUT ? 'shortcut' : 'file';
}

/** The formats to export it in, best first. None for a file that is downloaded. */
export function exportsOf({ mimeType }: Pick<DriveFile, 'mimeType'>): readonly string[] {
  return EXPORTS.get(mimeType) ?? [];
}

/** Whether files of its type are indexed. Of the drive's own types, those that are exported. */
export function isReadable({ mimeType, name }: Pick<DriveFile, 'mimeType' | 'name'>): boolean {
  if (EXPORTS.has(mimeType) || READ_TYPES.has(mimeType) || mimeType.startsWith('text/')) return true;
  return mimeType === 'application/octet-stream' && READ_EXTENSION.test(name);
}

export function toSelectedFile(file: DriveFile): SelectedFile {
  const { id, name, mimeType } = file;
  return { id, name, mimeType, kind: kindOf(file) === 'folder' ? 'folder' : 'file' };
}
