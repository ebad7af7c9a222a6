import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../../../platform/database/index.js';
import { DriveFailure } from '../../domain/drive-failure.js';
import { effectOf, unknownItem } from '../../domain/drive-item.js';
import { MAX_CHANGE_PAGES } from '../../limits.js';
import { DriveItemRepository } from '../../persistence/drive-item.repository.js';
import { type ClaimedSource, DriveSourceRepository } from '../../persistence/drive-source.repository.js';
import type { DriveChange } from '../drive-answers.js';
import { DriveApi } from '../drive-api.js';
import { DriveListing } from './drive-listing.js';
import type { SyncStep } from './sync-step.js';

/** Answers after which the place in the drive's changes is worth nothing any more. */
const LOST: readonly string[] = ['not_found', 'bad_request', 'forbidden', 'too_large', 'answer'];

/** How a sync begins: with what has changed since the last one where the drive tells it, with everything otherwise. */
@Injectable()
export class DriveChanges {
  constructor(
    private readonly api: DriveApi,
    private readonly items: DriveItemRepository,
    private readonly listing: DriveListing,
    private readonly sources: DriveSourceRepository,
  ) {}

  /** @throws DriveFailure, LeaseLost */
  async begin({ source, access, signal }: SyncStep): Promise<void> {
    if (source.changeToken !== null && !source.isFull) return this.resume(source);
    // Asked for before the listing, so that what changes during it is among the next changes.
    const changeToken = await unlessLost(this.api.startPageToken(access, signal));
    await this.sources.whileHeld(source, async (transaction) => {
      await this.sources.update(source, { phase: 'work', isFull: true, isTruncated: false, changeToken, changePages: 0 }, transaction);
      await this.items.forgetListing(transaction, source);
      await this.items.add(transaction, source, source.files.map(({ id, name, mimeType }) => unknownItem(id, name, 'selected', mimeType)));
    });
  }

  /** Reads a page of changes. @throws DriveFailure, LeaseLost */
  async read({ source, access, signal }: SyncStep): Promise<void> {
    const { changeToken: token, changePages } = source;
    const page = token === null ? null : await unlessLost(this.api.changes(access, token, signal));
    const changeToken = page?.nextPageToken ?? page?.newStartPageToken;
    const isEndless = changePages >= MAX_CHANGE_PAGES || page?.nextPageToken === token;
    await this.sources.whileHeld(source, async (transaction) => {
      const isApplied = page && changeToken !== undefined && !isEndless && (await this.apply(transaction, source, page.changes));
      const phase = page?.nextPageToken === undefined ? 'work' : 'changes';
      const next = isApplied ? { phase, changeToken, changePages: changePages + 1 } as const : { phase: 'begin', changeToken: null, isFull: true } as const;
      await this.sources.update(source, next, transaction);
    });
  }

  private async resume(source: ClaimedSource): Promise<void> {
    await this.sources.whileHeld(source, async (transaction) => {
      await this.items.resume(transaction, source);
      await this.sources.update(source, { phase: 'changes', changePages: 0 }, transaction);
    });
  }

  /** @returns false where everything has to be listed */
  private async apply(transaction: Transaction, source: ClaimedSource, changes: readonly DriveChange[]): Promise<boolean> {
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
    await this.listing.add(transaction, source, updated, true);
    return true;
  }
}

/** @returns null where the drive does not tell changes, or not from there on */
async function unlessLost<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof DriveFailure && LOST.includes(error.reason)) return null;
    throw error;
  }
}
