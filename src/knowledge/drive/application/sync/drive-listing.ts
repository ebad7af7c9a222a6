import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../../../platform/database/index.js';
import { DriveFailure, type DriveFailureReason } from '../../domain/drive-failure.js';
import { type DriveFile, isReadable, kindOf } from '../../domain/drive-file.js';
import { effectOf, type FoundItem, itemsOf, unknownItem } from '../../domain/drive-item.js';
import { MAX_CHANGE_PAGES, MAX_FILES, MAX_FOLDER_PAGES, MAX_FOLDERS } from '../../limits.js';
import type { DriveItem } from '../../persistence/drive.entities.js';
import { DriveItemRepository } from '../../persistence/drive-item.repository.js';
import { type ClaimedSource, DriveSourceRepository } from '../../persistence/drive-source.repository.js';
import type { DriveChange } from '../drive-answers.js';
import { DriveApi } from '../drive-api.js';
import { DriveFetching } from './drive-fetching.js';
import type { SyncStep } from './sync-step.js';

/** What the account cannot see. */
const UNSEEN: readonly DriveFailureReason[] = ['not_found', 'forbidden'];
/** Answers after which the page token of the drive's changes cannot be used any more. */
const LOST: readonly DriveFailureReason[] = ['not_found', 'bad_request', 'forbidden', 'too_large', 'answer'];

/**
 * Finds out what there is: what has changed since the last sync where the drive tells it; otherwise everything, which is the
 * selected entries, folders page by page, and what shortcuts lead to. Every method throws DriveFailure and LeaseLost.
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
    // Asked for before the listing, so that what changes during it is among the next changes.
    const changeToken = continues ? null : await unless(LOST, this.api.startPageToken(access, signal));
    await this.sources.whileHeld(source, async (transaction) => {
      if (continues) {
        await this.items.resume(transaction, source);
        await this.sources.update(source, { phase: 'changes', changePages: 0 }, transaction);
        return;
      }
      await this.items.forgetListing(transaction, source);
      await this.items.add(
        transaction,
        source,
        source.files.map(({ id, name, mimeType }) => unknownItem(id, name, 'selected', mimeType)),
      );
      await this.sources.update(
        source,
        { phase: 'work', isFull: true, isTruncated: false, changeToken, changePages: 0 },
        transaction,
      );
    });
  }

  /** Reads the next page of changes. */
  async readChanges({ source, access, signal }: SyncStep): Promise<void> {
    const { changeToken: token, changePages } = source;
    const page = token === null ? null : await unless(LOST, this.api.changes(access, token, signal));
    const changeToken = page?.nextPageToken ?? page?.newStartPageToken;
    const isEndless = changePages >= MAX_CHANGE_PAGES || page?.nextPageToken === token;
    await this.sources.whileHeld(source, async (transaction) => {
      const isApplied =
        page && changeToken !== undefined && !isEndless && (await this.apply(transaction, source, page.changes));
      const phase = page?.nextPageToken === undefined ? 'work' : 'changes';
      const everything = { phase: 'begin', changeToken: null, isFull: true } as const;
      await this.sources.update(
        source,
        isApplied ? { phase, changeToken, changePages: changePages + 1 } : everything,
        transaction,
      );
    });
  }

  async lookUp({ source, access, signal }: SyncStep, item: DriveItem): Promise<void> {
    const file = await unless([...UNSEEN, 'bad_request'], this.api.file(access, item.fileId, signal));
    if (!file || file.isTrashed) return this.fetching.gone(source, item);
    const { name, mimeType, url, size, fingerprint } = file;
    const kind = kindOf(file);
    await this.sources.whileHeld(source, async (transaction) => {
      // A selected file of another type is fetched all the same, so that its failure is reported.
      if (kind === 'file' && !isReadable(file) && item.via !== 'selected')
        return this.items.removeLater(transaction, source, [item.fileId]);
      const todo = { folder: 'list', file: 'fetch', shortcut: null } as const;
      const found = {
        fileId: item.fileId,
        via: item.via,
        kind,
        todo: todo[kind],
        name,
        mimeType,
        url,
        size,
        fingerprint,
      };
      await this.items.add(transaction, source, [found], true);
      // A shortcut that a shortcut leads to is not followed.
      if (kind === 'shortcut' && item.via === 'selected' && file.targetId !== null) {
        await this.items.add(transaction, source, [unknownItem(file.targetId, name, 'shortcut')]);
      }
    });
  }

  /** Reads the next page of a folder. */
  async list({ source, access, signal }: SyncStep, item: DriveItem): Promise<void> {
    const page = await unless(UNSEEN, this.api.folder(access, item.fileId, item.pageToken, signal));
    if (!page) return this.fetching.gone(source, item);
    const { nextPageToken } = page;
    const isEndless =
      nextPageToken !== undefined && (nextPageToken === item.pageToken || item.pages + 1 >= MAX_FOLDER_PAGES);
    await this.sources.whileHeld(source, async (transaction) => {
      const isComplete = await this.add(transaction, source, page.files);
      // What lies beyond the most that is taken need not be asked for.
      const next = isComplete ? (nextPageToken ?? null) : null;
      if (isEndless && next !== null) throw endless(item);
      await this.items.turnPage(transaction, source, item, next);
    });
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

  /** @returns false where everything has to be listed */
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
    await this.items.removeLater(transaction, source, removed);
    await this.add(transaction, source, updated, true);
    return true;
  }

  /**
   * Writes entries as items of the source, as many as it may have.
   * @param again also those that this sync has seen already
   * @returns false once entries of the source were left out
   */
  private async add(
    transaction: Transaction,
    source: ClaimedSource,
    files: readonly DriveFile[],
    again = false,
  ): Promise<boolean> {
    const found = itemsOf(files);
    const known = await this.items.known(
      transaction,
      source,
      found.map(({ fileId }) => fileId),
    );
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

/** What such a folder holds cannot be known, so that nothing of it may count as gone, and the sync as done. */
function endless({ name }: DriveItem): DriveFailure {
  return new DriveFailure(
    'endless',
    `The drive does not come to an end with the list of the folder ${name.slice(0, 200)}: each page leads to another one.`,
  );
}

/** @returns null where the drive refuses for one of the reasons */
async function unless<Answer>(reasons: readonly DriveFailureReason[], asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof DriveFailure && reasons.includes(error.reason)) return null;
    throw error;
  }
}
