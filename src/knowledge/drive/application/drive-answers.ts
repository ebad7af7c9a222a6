import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isStorable, storableText } from '../../../platform/database/index.js';
import type { DriveFile } from '../domain/drive-file.js';
import { MAX_FILE_ID_LENGTH, MAX_NAME_LENGTH, MAX_PAGE_TOKEN_LENGTH, MAX_URL_LENGTH } from '../limits.js';

/** What is asked for of every file. */
export const FILE_FIELDS = 'id,name,mimeType,md5Checksum,modifiedTime,version,size,trashed,webViewLink,parents,shortcutDetails(targetId)';

const id = z.string().min(1).max(MAX_FILE_ID_LENGTH).refine(isFileId);
const mark = z.string().max(200).optional();

const file = z.object({
  id,
  name: z.string().default(''),
  mimeType: z.string().max(255).transform(storableText),
  md5Checksum: mark,
  modifiedTime: mark,
  version: z.union([z.string().max(200), z.number()]).optional(),
  size: z.union([z.string().max(20), z.number()]).optional(),
  trashed: z.boolean().default(false),
  webViewLink: z.string().optional(),
  parents: z.array(z.string().max(MAX_FILE_ID_LENGTH)).max(100).optional(),
  shortcutDetails: z.object({ targetId: id.optional() }).optional(),
});

const pageToken = z.string().min(1).max(MAX_PAGE_TOKEN_LENGTH).refine(isStorable);
/** An entry that is not as the API says is left out rather than the whole page with it. */
const entries = z.array(z.unknown()).max(5_000);

export const fileAnswer = file.transform(driveFileOf);
export const folderAnswer = z.object({ files: entries, nextPageToken: pageToken.optional() });
export const startTokenAnswer = z.object({ startPageToken: pageToken });
export const changesAnswer = z.object({ changes: entries, nextPageToken: pageToken.optional(), newStartPageToken: pageToken.optional() });
const change = z.object({ fileId: id.optional(), removed: z.boolean().optional(), file: z.unknown().optional() });

/** What became of a file since; `file` null where it cannot be seen any more. */
export interface DriveChange {
  readonly fileId: string;
  readonly file: DriveFile | null;
}

/** Whether an id can stand in the path of a request. */
export function isFileId(text: string): boolean {
  return text !== '.' && text !== '..' && isStorable(text);
}

export function filesOf(list: readonly unknown[]): DriveFile[] {
  return list.flatMap((entry) => fileAnswer.safeParse(entry).data ?? []);
}

export function changesOf(list: readonly unknown[]): DriveChange[] {
  return list.flatMap((entry) => {
    const { data } = change.safeParse(entry);
    if (data?.fileId === undefined) return [];
    const known = data.removed === true ? undefined : fileAnswer.safeParse(data.file).data;
    return data.removed === true || known ? [{ fileId: data.fileId, file: known ?? null }] : [];
  });
}

function driveFileOf(told: z.output<typeof file>): DriveFile {
  const name = storableText(told.name.slice(0, MAX_NAME_LENGTH)) || told.id;
  const url = httpsUrl(told.webViewLink);
  // `version` grows with views and shares too, so it counts only where nothing else tells a change.
  const content = told.md5Checksum ?? told.modifiedTime ?? String(told.version ?? '');
  const size = told.size === undefined ? null : Number(told.size);
  return {
    ...{ id: told.id, name, mimeType: told.mimeType, isTrashed: told.trashed, url },
    size: size !== null && Number.isSafeInteger(size) && size >= 0 ? size : null,
    parents: told.parents ?? [],
    targetId: told.shortcutDetails?.targetId ?? null,
    fingerprint: createHash('sha256').update(JSON.stringify([content, name, told.mimeType, url])).digest('base64url'),
  };
}

function httpsUrl(link: string | undefined): string | null {
  const url = link === undefined || link.length > MAX_URL_LENGTH ? null : URL.parse(link);
  return url?.protocol === 'https:' ? url.href : null;
}
