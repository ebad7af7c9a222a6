import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import type { DriveFile } from '../domain/drive-file.js';
import { MAX_UPLOAD_BYTES } from '../../limits.js';
import { type DriveChange, changesAnswer, changesOf, FILE_FIELDS, fileAnswer, filesOf, folderAnswer, startTokenAnswer } from './drive-answers.js';
import { type DriveAccess, DriveHttp } from './drive-http.js';
import { DOWNLOAD_MS, PAGE_SIZE } from '../limits.js';

const ALL_DRIVES = { supportsAllDrives: 'true' };
const OF_ALL_DRIVES = { ...ALL_DRIVES, includeItemsFromAllDrives: 'true' };

export interface FolderPage {
  readonly files: readonly DriveFile[];
  /** Undefined at the end. */
  readonly nextPageToken: string | undefined;
}

export interface ChangesPage {
  readonly changes: readonly DriveChange[];
  readonly nextPageToken: string | undefined;
  /** Where the next sync begins; on the last page. */
  readonly newStartPageToken: string | undefined;
}

/** The parts of the drive's API (v3) that are used. Every method throws `DriveFailure`, or the reason of `signal`. */
@Injectable()
export class DriveApi {
  constructor(private readonly http: DriveHttp) {}

  /** Whether the account may use the API at all. */
  async check(access: DriveAccess): Promise<void> {
    await this.http.json(access, z.object({ user: z.unknown() }), { path: '/drive/v3/about', query: { fields: 'user' } });
  }

  file(access: DriveAccess, id: string, signal?: AbortSignal): Promise<DriveFile> {
    return this.http.json(access, fileAnswer, { path: pathOf(id), query: { fields: FILE_FIELDS, ...ALL_DRIVES }, signal });
  }

  async folder(access: DriveAccess, id: string, pageToken: string | null, signal?: AbortSignal): Promise<FolderPage> {
    const page = await this.http.json(access, folderAnswer, {
      path: '/drive/v3/files',
      query: {
        q: `'${id.replaceAll(/[\\']/g, '\\$&')}' in parents and trashed = false`,
        fields: `nextPageToken,files(${FILE_FIELDS})`,
        pageSize: String(PAGE_SIZE),
        ...OF_ALL_DRIVES,
        ...(pageToken !== null && { pageToken }),
      },
      signal,
    });
    return { files: filesOf(page.files), nextPageToken: page.nextPageToken };
  }

  async startPageToken(access: DriveAccess, signal?: AbortSignal): Promise<string> {
    const request = { path: '/drive/v3/changes/startPageToken', query: ALL_DRIVES, signal };
    return (await this.http.json(access, startTokenAnswer, request)).startPageToken;
  }

  async changes(access: DriveAccess, pageToken: string, signal?: AbortSignal): Promise<ChangesPage> {
    const page = await this.http.json(access, changesAnswer, {
      path: '/drive/v3/changes',
      query: {
        pageToken,
        fields: `nextPageToken,newStartPageToken,changes(fileId,removed,file(${FILE_FIELDS}))`,
        pageSize: String(PAGE_SIZE),
        includeRemoved: 'true',
        ...OF_ALL_DRIVES,
      },
      signal,
    });
    return { changes: changesOf(page.changes), nextPageToken: page.nextPageToken, newStartPageToken: page.newStartPageToken };
  }

  download(access: DriveAccess, id: string, signal: AbortSignal): Promise<Buffer> {
    return this.content(access, pathOf(id), { alt: 'media', ...ALL_DRIVES }, signal);
  }

  export(access: DriveAccess, id: string, mimeType: string, signal: AbortSignal): Promise<Buffer> {
    return this.content(access, `${pathOf(id)}/export`, { mimeType }, signal);
  }

  private content(access: DriveAccess, path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Buffer> {
    return this.http.get(access, { path, query, maxBytes: MAX_UPLOAD_BYTES, timeoutMs: DOWNLOAD_MS, signal });
  }
}

function pathOf(id: string): string {
  return `/drive/v3/files/${encodeURIComponent(id)}`;
}
