import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../../../platform/database/index.js';
import { DriveFailure } from '../../domain/drive-failure.js';
import { type DriveFile, isReadable, kindOf } from '../../domain/drive-file.js';
import { type FoundItem, itemsOf, unknownItem } from '../../domain/drive-item.js';
import { MAX_FILES, MAX_FOLDER_PAGES, MAX_FOLDERS } from '../../limits.js';
import type { DriveItem } from '../../persistence/drive.entities.js';
import { DriveItemRepository } from '../../persistence/drive-item.repository.js';
import { type ClaimedSource, DriveSourceRepository } from '../../persistence/drive-source.repository.js';
import { DriveApi } from '../drive-api.js';
import { DriveFetching } from './drive-fetching.js';
import type { SyncStep } from './sync-step.js';

const UNSEEN: readonly string[] = ['not_found', 'forbidden'];

/** Finds out what there is: selected entries, folders page by page, and what shortcuts lead to. */
@Injectable()
export class DriveListing {
  constructor(
    private readonly api: DriveApi,
    private readonly items: DriveItemRepository,
    private readonly sources: DriveSourceRepository,
    private readonly fetching: DriveFetching,
  ) {}

  /** @throws DriveFailure, LeaseLost */
  async lookUp({ source, access, signal }: SyncStep, item: DriveItem): Promise<void> {
    const file = await seen(this.api.file(access, item.fileId, signal), [...UNSEEN, 'bad_request']);
    if (!file || file.isTrashed) return this.fetching.gone(source, item);
    const { name, mimeType, url, size, fingerprint } = file;
    const kind = kindOf(file);
    await this.sources.whileHeld(source, async (transaction) => {
      // A selected file of another type is fetched all the same, so that its failure is reported.
      if (kind === 'file' && !isReadable(file) && item.via !== 'selected') return this.items.removeLater(transaction, source, [item.fileId]);
      const todo = { folder: 'list', file: 'fetch', shortcut: null } as const;
      const found = { fileId: item.fileId, via: item.via, kind, todo: todo[kind], name, mimeType, url, size, fingerprint };
      await this.items.add(transaction, source, [found], true);
      // A shortcut that a shortcut leads to is not followed.
      if (kind === 'shortcut' && item.via === 'selected' && file.targetId !== null) {
        await this.items.add(transaction, source, [unknownItem(file.targetId, name, 'shortcut')]);
      }
    });
  }

  /** Reads the next page. @throws DriveFailure, LeaseLost */
  async list({ source, access, signal }: SyncStep, item: DriveItem): Promise<void> {
    const page = await seen(this.api.folder(access, item.fileId, item.pageToken, signal), UNSEEN);
    if (!page) return this.fetching.gone(source, item);
    const { nextPageToken } = page;
    const isEndless = nextPageToken !== undefined && (nextPageToken === item.pageToken || item.pages + 1 >= MAX_FOLDER_PAGES);
    await this.sources.whileHeld(source, async (transaction) => {
      const isComplete = await this.add(transaction, source, page.files);
      // What lies beyond the most that is taken need not be asked for.
      const next = isComplete ? (nextPageToken ?? null) : null;
      if (isEndless && next !== null) throw endless(item);
      await this.items.turnPage(transaction, source, item, next);
    });
  }

  /**
   * Writes entries as items of the source, as many as it may have.
   * @param again also those that this sync has seen already
   * @returns false once entries of the source were left out
   */
  async add(transaction: Transaction, source: ClaimedSource, files: readonly DriveFile[], again = false): Promise<boolean> {
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
    if (kept.length < found.length) await this.sources.update(source, { isTruncated: true }, transaction);
    return kept.length === found.length && !source.isTruncated;
  }

  /** Once everything was listed, what was not seen is gone. */
  async end(source: ClaimedSource): Promise<void> {
    if (!source.isFull) return;
    await this.sources.whileHeld(source, async (transaction) => {
      if (await this.items.isListing(transaction, source)) return;
      await this.items.removeUnseen(transaction, source);
      await this.sources.update(source, { isFull: false }, transaction);
    });
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
