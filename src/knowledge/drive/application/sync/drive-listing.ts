import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../../../platform/database/index.js';
import { DocumentIndex } from '../../../index/application/indexing/document-index.js';
import { DriveFailure } from '../../domain/drive-failure.js';
import { type DriveFile, isReadable, kindOf } from '../../domain/drive-file.js';
import { type FoundItem, itemsOf, unknownItem } from '../../domain/drive-item.js';
import type { ClaimedSource, DriveItem } from '../../domain/drive-source.js';
import { DriveItemRepository } from '../../persistence/drive-item.repository.js';
import { DriveSourceRepository } from '../../persistence/drive-source.repository.js';
import { DriveApi } from '../drive-api.js';
import type { DriveAccess } from '../drive-http.js';
import { MAX_FILES, MAX_FOLDER_PAGES, MAX_FOLDERS } from '../../limits.js';

const GONE = 'It is no longer in the drive, or no longer shared with the account.';
const UNSEEN: readonly string[] = ['not_found', 'forbidden'];

/** Finds out what there is: selected entries, folders page by page, and what shortcuts lead to. */
@Injectable()
export class DriveListing {
  constructor(
    private readonly api: DriveApi,
    private readonly items: DriveItemRepository,
    private readonly sources: DriveSourceRepository,
    private readonly index: DocumentIndex,
  ) {}

  /** @returns the source as it is then. @throws DriveFailure, LeaseLost */
  async lookUp(source: ClaimedSource, access: DriveAccess, item: DriveItem, signal: AbortSignal): Promise<ClaimedSource> {
    const file = await seen(this.api.file(access, item.fileId, signal), [...UNSEEN, 'bad_request']);
    if (!file || file.isTrashed) {
      await this.gone(source, item);
      return source;
    }
    return this.sources.whileHeld(source, async (transaction) => {
      const { name, mimeType, url, size, fingerprint } = file;
      const found = { fileId: item.fileId, via: item.via, name, mimeType, url, size, fingerprint };
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
        await this.items.add(transaction, source, [unknownItem(file.targetId, name, 'shortcut')]);
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
    return this.sources.whileHeld(source, async (transaction) => {
      const found = await this.add(transaction, source, page.files);
      // What lies beyond the most that is taken need not be asked for.
      const next = found.isTruncated ? null : (nextPageToken ?? null);
      if (isEndless && next !== null) throw endless(item);
      await this.items.turnPage(transaction, found, item, next);
      return found;
    });
  }

  /**
   * Writes entries as items of the source, as many as it may have.
   * @param again also those that this sync has seen already
   * @returns the source, marked where some were left out
   */
  async add(transaction: Transaction, source: ClaimedSource, files: readonly DriveFile[], again = false): Promise<ClaimedSource> {
    const found = itemsOf(files);
    const known = await this.items.known(transaction, source, found.map(({ fileId }) => fileId));
    const counts = await this.items.counts(transaction, source);
    const room = { file: MAX_FILES - counts.files, folder: MAX_FOLDERS - counts.folders };
    const hasRoom = ({ fileId, kind }: FoundItem): boolean => {
      const item = known.get(fileId);
      if (item && (!source.isFull || item.seenIn === source.syncId)) return true;
      return (room[kind === 'file' || kind === 'unknown' ? 'file' : 'folder'] -= 1) >= 0;
    };
    const kept = found.filter(hasRoom);
    await this.items.add(transaction, source, kept, again);
    if (kept.length === found.length || source.isTruncated) return source;
    return this.sources.update(source, { isTruncated: true }, transaction);
  }

  /** A selected entry stays known, so that its loss is reported. */
  async gone(source: ClaimedSource, item: DriveItem): Promise<void> {
    if (item.via !== 'selected') {
      await this.sources.whileHeld(source, (transaction) => this.items.removeLater(transaction, source, [item.fileId]));
      return;
    }
    if (item.documentId !== null) await this.index.remove(source.organizationId, [item.documentId]);
    const result = { todo: null, result: 'gone', error: GONE, documentId: null } as const;
    await this.sources.whileHeld(source, (transaction) => this.items.settle(transaction, source, item.fileId, result));
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
