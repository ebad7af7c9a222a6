import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isStorable, storableText } from '../../../platform/database/index.js';
import type { DriveFile } from '../domain/drive-file.js';
import { MAX_FILE_ID_LENGTH, MAX_NAME_LENGTH, MAX_PAGE_TOKEN_LENGTH, MAX_URL_LENGTH } from '../limits.js';

/** The fields that are requested of every file. */
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
export const fileResponse = file.transform(toDriveFile);

/** `file` is null where the account can no longer see it. */
const change = z.union([
  z.object({ fileId: id, removed: z.literal(true) }).transform(({ fileId }) => ({ fileId, file: null })),
  z.object({ fileId: id, file: fileResponse }),
]);
export type DriveChange = z.output<typeof change>;

export const folderResponse = z.object({ files: validEntries(fileResponse), nextPageToken: pageToken.optional() });
export type FolderPage = z.output<typeof folderResponse>;

export const startTokenResponse = z.object({ startPageToken: pageToken });

/** The last page has `newStartPageToken`, with which the next sync begins. */
export const changesResponse = z.object({
  changes: validEntries(change),
  nextPageToken: pageToken.optional(),
  newStartPageToken: pageToken.optional(),
});
export type ChangesPage = z.output<typeof changesResponse>;

/** Whether an id can be part of a request's path. */
export function isFileId(text: string): boolean {
  return text !== '.' && text !== '..' && isStorable(text);
}

/** An entry that does not match the API is left out; the others of its page are kept. */
function validEntries<Entry extends z.ZodType>(entry: Entry) {
  const readable = (one: unknown): z.output<Entry>[] => {
    const { success, data } = entry.safeParse(one);
    return success ? [data] : [];
  };
  return z
    .array(z.unknown())
    .max(5_000)
    .transform((all) => all.flatMap(readable));
}

function toDriveFile(entry: z.output<typeof file>): DriveFile {
  const { mimeType, parents } = entry;
  const name = storableText(entry.name.slice(0, MAX_NAME_LENGTH)) || entry.id;
  const url = httpsUrl(entry.webViewLink);
  // `version` also grows with views and shares, so it is used only without the other two.
  const content = entry.md5Checksum ?? entry.modifiedTime ?? String(entry.version ?? '');
  const size = entry.size === undefined ? null : Number(entry.size);
  return {
    ...{ id: entry.id, name, mimeType, url, parents },
    isTrashed: entry.trashed,
    size: size !== null && Number.isSafeInteger(size) && size >= 0 ? size : null,
    targetId: entry.shortcutDetails?.targetId ?? null,
    fingerprint: createHash('sha256')
      .update(JSON.stringify([content, name, mimeType, url]))
      .digest('base64url'),
  };
}

function httpsUrl(link: string | undefined): string | null {
  const url = link === undefined || link.length > MAX_URL_LENGTH ? null : URL.parse(link);
  return url?.protocol === 'https:' ? url.href : null;
}
