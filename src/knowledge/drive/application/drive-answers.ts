import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isStorable, storableText } from '../../../platform/database/index.js';
import type { DriveFile } from '../domain/drive-file.js';
import { MAX_FILE_ID_LENGTH, MAX_NAME_LENGTH, MAX_PAGE_TOKEN_LENGTH, MAX_URL_LENGTH } from '../limits.js';

/** What is asked for of every file. */
export const FILE_FIELDS =
  'id,name,mimeType,md5Checksum,modifiedTime,version,size,trashed,webViewLink,parents,shortcutDetails(targetId)';

const id = z.string().min(1).max(MAX_FILE_ID_LENGTH).refine(isFileId);
const mark = z.string().max(200).optional();
const pageToken = z.string().min(1).max(MAX_PAGE_TOKEN_LENGTH).refine(isStorable);

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
  parents: z.array(z.string().max(MAX_FILE_ID_LENGTH)).max(100).default([]),
  shortcutDetails: z.object({ targetId: id.optional() }).optional(),
});
export const fileAnswer = file.transform(driveFileOf);

/** What became of a file since; `file` null where it cannot be seen any more. */
const change = z.union([
  z.object({ fileId: id, removed: z.literal(true) }).transform(({ fileId }) => ({ fileId, file: null })),
  z.object({ fileId: id, file: fileAnswer }),
]);
export type DriveChange = z.output<typeof change>;

export const folderAnswer = z.object({ files: listOf(fileAnswer), nextPageToken: pageToken.optional() });
export type FolderPage = z.output<typeof folderAnswer>;

export const startTokenAnswer = z.object({ startPageToken: pageToken });

/** `newStartPageToken` is on the last page: where the next sync begins. */
export const changesAnswer = z.object({
  changes: listOf(change),
  nextPageToken: pageToken.optional(),
  newStartPageToken: pageToken.optional(),
});
export type ChangesPage = z.output<typeof changesAnswer>;

/** Whether an id can stand in the path of a request. */
export function isFileId(text: string): boolean {
  return text !== '.' && text !== '..' && isStorable(text);
}

/** An entry that is not as the API says is left out rather than the whole page with it. */
function listOf<Entry extends z.ZodType>(entry: Entry) {
  const readable = (one: unknown): z.output<Entry>[] => {
    const { success, data } = entry.safeParse(one);
    return success ? [data] : [];
  };
  return z
    .array(z.unknown())
    .max(5_000)
    .transform((all) => all.flatMap(readable));
}

function driveFileOf(told: z.output<typeof file>): DriveFile {
  const { mimeType, parents } = told;
  const name = storableText(told.name.slice(0, MAX_NAME_LENGTH)) || told.id;
  const url = httpsUrl(told.webViewLink);
  // `version` grows with views and shares too, so it counts only where nothing else tells a change.
  const content = told.md5Checksum ?? told.modifiedTime ?? String(told.version ?? '');
  const size = told.size === undefined ? null : Number(told.size);
  return {
    ...{ id: told.id, name, mimeType, url, parents },
    isTrashed: told.trashed,
    size: size !== null && Number.isSafeInteger(size) && size >= 0 ? size : null,
    targetId: told.shortcutDetails?.targetId ?? null,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([content, name, mimeType, url]))
      .digest('base64url'),
  };
}

function httpsUrl(link: string | undefined): string | null {
  const url = link === undefined || link.length > MAX_URL_LENGTH ? null : URL.parse(link);
  return url?.protocol === 'https:' ? url.href : null;
}
