import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../../../platform/database/index.js';
import { DriveFailure, type DriveFailureReason, nullOn } from '../../domain/drive-failure.js';
import { type DriveFile, isReadable } from '../../domain/drive-file.js';
import { effectOf, type FoundItem, toItem, toItems, unknownItem } from '../../domain/drive-item.js';
import { MAX_CHANGE_PAGES, MAX_FILES, MAX_FOLDER_PAGES, MAX_FOLDERS } from '../../limits.js';
import type { DriveItem } from '../../persistence/drive.entities.js';
import { DriveItemRepository } from '../../persistence/drive-item.repository.js';
import { type ClaimedSource, DriveSourceRepository } from '../../persistence/drive-source.repository.js';
import type { DriveChange } from '../drive-responses.js';
import { DriveApi } from '../drive-api.js';
import { DriveFetching, type SyncStep } from './drive-fetching.js';

const NOT_VISIBLE: readonly DriveFailureReason[] = ['not_found', 'forbidden'];
/** Failures after which the token of the drive's changes cannot be used again. */
const TOKEN_LOST: readonly DriveFailureReason[] = ['not_found', 'bad_request', 'forbidden', 'too_large', 'answer'];

/**
 * Finds the items of a source: the changes since the last sync where the drive lists them, otherwise everything (the selected
 * entries, their folders page by page, and the targets of shortcuts). Every method throws DriveFailure and LeaseLost.
 */
@Injectable()
export class DriveListing {
  constructor(
    private readonly api: DriveApi,
    private readonly items: DriveItemRepository,
    private readonly sources: DriveSourceRepository,
    private readonly fetching: DriveFetching,
  ) {}

  async begin({ source, access, signal }: SyncStep): Promise<void> {
    const continues = source.changeToken !== null && !source.isFull;
    // Requested before the listing, so that the next sync sees what changes during it.
    const changeToken = continues ? null : await nullOn(TOKEN_LOST, this.api.startPageToken(access, signal));
    await this.sources.whileHeld(source, async (transaction) => {
      if (continues) {
        await this.items.resume(transaction, source);
        await this.sources.update(source, { phase: 'changes', changePages: 0 }, transaction);
        return;
      }
      await this.items.dropListing(transaction, source);
      const selected = source.files.map(({ id, name, mimeType }) => unknownItem(id, name, 'selected', mimeType));
      await this.items.add(transaction, source, selected);
      const listing = { phase: 'work', isFull: true, isTruncated: false, changeToken, changePages: 0 } as const;
      await this.sources.update(source, listing, transaction);
    });
  }

  /** Reads the next page of changes. */
  async readChanges({ source, access, signal }: SyncStep): Promise<void> {
    const { changeToken: token, changePages } = source;
    const page = token === null ? null : await nullOn(TOKEN_LOST, this.api.changes(access, token, signal));
    const changeToken = page?.nextPageToken ?? page?.newStartPageToken;
    const isEndless = changePages >= MAX_CHANGE_PAGES || page?.nextPageToken === token;
    await this.sources.whileHeld(source, async (transaction) => {
      const isApplied =
        page && changeToken !== undefined && !isEndless && (await this.apply(transaction, source, page.changes));
      const phase = page?.nextPageToken === undefined ? 'work' : 'changes';
      const relist = { phase: 'begin', changeToken: null, isFull: true } as const;
      const changes = isApplied ? ({ phase, changeToken, changePages: changePages + 1 } as const) : relist;
      await this.sources.update(source, changes, transaction);
    });
  }

  async lookUp({ source, access, signal }: SyncStep, item: DriveItem): Promise<void> {
    const file = await nullOn([...NOT_VISIBLE, 'bad_request'], this.api.file(access, item.fileId, signal));
    if (!file || file.isTrashed) return this.fetching.markMissing(source, item);
    const { fileId, via } = item;
    const found = { ...toItem(file, via), fileId };
    await this.sources.whileHeld(source, async (transaction) => {
      // A selected file of an unsupported type is fetched nevertheless, so that its failure is reported.
      if (found.kind === 'file' && !isReadable(file) && via !== 'selected')
        return this.items.markForRemoval(transaction, source, [fileId]);
      await this.items.add(transaction, source, [found], true);
      // Shortcuts to shortcuts are not followed.
      if (found.kind === 'shortcut' && via === 'selected' && file.targetId !== null)
        await this.items.add(transaction, source, [unknownItem(file.targetId, file.name, 'shortcut')]);
    });
  }

  /** Reads the next page of a folder. */
  async list({ source, access, signal }: SyncStep, item: DriveItem): Promise<void> {
    const page = await nullOn(NOT_VISIBLE, this.api.folder(access, item.fileId, item.pageToken, signal));
    if (!page) return this.fetching.markMissing(source, item);
    const { nextPageToken } = page;
    const isEndless =
      nextPageToken !== undefined && (nextPageToken === item.pageToken || item.pages + 1 >= MAX_FOLDER_PAGES);
    await this.sources.whileHeld(source, async (transaction) => {
      const isComplete = await this.add(transaction, source, page.files);
      // Once the source is full, the other pages are not requested.
      const next = isComplete ? (nextPageToken ?? null) : null;
      if (isEndless && next !== null) throw endless(item);
      await this.items.setPage(transaction, source, item, next);
    });
  }

  /** Once everything was listed, items that the sync did not see are removed. */
  async end(source: ClaimedSource): Promise<void> {
    if (!source.isFull) return;
    await this.sources.whileHeld(source, async (transaction) => {
      if (await this.items.isListing(transaction, source)) return;
      await this.items.markUnseenForRemoval(transaction, source);
      await this.sources.update(source, { isFull: false }, transaction);
    });
  }

  /** @returns false where everything must be listed */
  private async apply(
    transaction: Transaction,
    source: ClaimedSource,
    changes: readonly DriveChange[],
  ): Promise<boolean> {
    const ids = changes.flatMap(({ fileId, file }) => [fileId, ...(file?.parents ?? [])]);
    const known = await this.items.known(transaction, source, [...new Set(ids)]);
    const effects = changes.map(({ fileId, file }) => {
      const isInFolder = file?.parents.some((parent) => known.get(parent)?.kind === 'folder') ?? false;
      return { fileId, file, effect: effectOf(known.get(fileId), file, isInFolder) };
    });
    if (effects.some(({ effect }) => effect === 'relist')) return false;
    const removed = effects.flatMap(({ fileId, effect }) => (effect === 'remove' ? [fileId] : []));
    const updated = effects.flatMap(({ file, effect }) => (effect === 'update' && file ? [file] : []));
    await this.items.markForRemoval(transaction, source, removed);
    await this.add(transaction, source, updated, true);
    return true;
  }

  /**
   * Stores entries as items of the source, up to its limits.
   * @param again whether also those that this sync has seen already are updated
   * @returns false once entries were left out
   */
  private async add(
    transaction: Transaction,
    source: ClaimedSource,
    files: readonly DriveFile[],
    again = false,
  ): Promise<boolean> {
    const found = toItems(files);
    const ids = found.map(({ fileId }) => fileId);
    const known = await this.items.known(transaction, source, ids);
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
}

/** The sync fails, because the folder's content is unknown: its items must not count as missing. */
function endless({ name }: DriveItem): DriveFailure {
  return new DriveFailure(
    'endless',
    `The drive returns more than ${MAX_FOLDER_PAGES} pages for the folder ${name.slice(0, 200)}, or repeats one.`,
  );
}
