import { Injectable } from '@nestjs/common';
import { DocumentIndex } from '../../../index/application/indexing/document-index.js';
import { DriveFailure } from '../../domain/drive-failure.js';
import { isReadable, kindOf } from '../../domain/drive-file.js';
import type { ClaimedSource, DriveItem } from '../../domain/drive-source.js';
import { DriveItemRepository } from '../../persistence/drive-item.repository.js';
import { DriveApi } from '../drive-api.js';
import type { DriveAccess } from '../drive-http.js';
import { MAX_FOLDER_PAGES } from '../../limits.js';
import { DriveFinds, targetOf } from './drive-finds.js';
import { HeldSource } from './held-source.js';

const GONE = 'It is no longer in the drive, or no longer shared with the account.';
const UNSEEN: readonly string[] = ['not_found', 'forbidden'];

/** Finds out what there is: selected entries, folders page by page, and what shortcuts lead to. */
@Injectable()
export class DriveListing {
  constructor(
    private readonly api: DriveApi,
    private readonly items: DriveItemRepository,
    private readonly finds: DriveFinds,
    private readonly held: HeldSource,
    private readonly index: DocumentIndex,
  ) {}

  /** @returns the source as it is then. @throws DriveFailure, LeaseLost */
  async lookUp(source: ClaimedSource, access: DriveAccess, item: DriveItem, signal: AbortSignal): Promise<ClaimedSource> {
    const file = await seen(this.api.file(access, item.fileId, signal), [...UNSEEN, 'bad_request']);
    if (!file || file.isTrashed) {
      await this.gone(source, item);
      return source;
    }
    return this.held.write(source, async (transaction) => {
      const found = { ...item, name: file.name, mimeType: file.mimeType, url: file.url, size: file.size, fingerprint: file.fingerprint };
      const kind = kindOf(file);
      // Selected, it is fetched all the same, to be told apart from what is read.
      if (kind === 'file' && !isReadable(file) && item.via !== 'selected') {
        await this.items.removeLater(transaction, source, [item.fileId]);
        return source;
      }
      const todo = kind === 'folder' ? 'list' : kind === 'file' ? 'fetch' : null;
      await this.items.add(transaction, source, [{ ...found, kind, todo }], true);
      // A shortcut that a shortcut leads to is not followed.
      if (kind === 'shortcut' && item.via === 'selected' && file.targetId !== null) {
        await this.items.add(transaction, source, [targetOf(file.targetId, file.name)]);
      }
      return source;
    });
  }

  /** Reads the next page. @returns and throws as `lookUp` */
  async list(source: ClaimedSource, access: DriveAccess, item: DriveItem, signal: AbortSignal): Promise<ClaimedSource> {
    const page = await seen(this.api.folder(access, item.fileId, item.pageToken, signal), UNSEEN);
    if (!page) {
      await this.gone(source, item);
      return source;
    }
    const { nextPageToken } = page;
    const isEndless = nextPageToken !== undefined && (nextPageToken === item.pageToken || item.pages + 1 >= MAX_FOLDER_PAGES);
    return this.held.write(source, async (transaction) => {
      const found = await this.finds.add(transaction, source, page.files, false);
      // What lies beyond the most that is taken need not be asked for.
      const next = found.isTruncated ? null : (nextPageToken ?? null);
      if (isEndless && next !== null) throw endless(item);
      await this.items.turnPage(transaction, found, item.fileId, next);
      return found;
    });
  }

  /** Something that was selected stays known, so that its loss is told. */
  async gone(source: ClaimedSource, item: DriveItem): Promise<void> {
    if (item.via !== 'selected') {
      await this.held.write(source, (transaction) => this.items.removeLater(transaction, source, [item.fileId]));
      return;
    }
    if (item.documentId !== null) await this.index.remove(source.organizationId, [item.documentId]);
    const result = { todo: null, result: 'gone', error: GONE, documentId: null } as const;
    await this.held.write(source, (transaction) => this.items.settle(transaction, source, item.fileId, result));
  }
}

/** What such a folder holds cannot be known, so that nothing of it may count as gone, and the sync as done. */
function endless({ name }: DriveItem): DriveFailure {
  return new DriveFailure('endless', `The drive does not come to an end with the list of the folder ${name.slice(0, 200)}: each page leads to another one.`);
}

/** @returns null for what the account cannot see */
async function seen<Answer extends object>(asked: Promise<Answer>, unseen: readonly string[]): Promise<Answer | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof DriveFailure && unseen.includes(error.reason)) return null;
    throw error;
  }
}
