import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../../../platform/database/index.js';
import { effectOf } from '../../domain/drive-change.js';
import { unknownItem } from '../../domain/drive-item.js';
import { DriveFailure } from '../../domain/drive-failure.js';
import type { ClaimedSource } from '../../domain/drive-source.js';
import { DriveItemRepository } from '../../persistence/drive-item.repository.js';
import { DriveSourceRepository } from '../../persistence/drive-source.repository.js';
import { DriveApi } from '../drive-api.js';
import type { DriveChange } from '../drive-answers.js';
import type { DriveAccess } from '../drive-http.js';
import { MAX_CHANGE_PAGES } from '../../limits.js';
import { DriveListing } from './drive-listing.js';

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
  async begin(source: ClaimedSource, access: DriveAccess, signal: AbortSignal): Promise<ClaimedSource> {
    if (source.changeToken !== null && !source.isFull) {
      return this.sources.whileHeld(source, async (transaction) => {
        await this.items.resume(transaction, source);
        return this.sources.update(source, { phase: 'changes', changePages: 0 }, transaction);
      });
    }
    // Asked for before the listing, so that what changes during it is among the next changes.
    const changeToken = await unlessLost(this.api.startPageToken(access, signal));
    return this.sources.whileHeld(source, async (transaction) => {
      const changes = { phase: 'work', isFull: true, isTruncated: false, changeToken, changePages: 0 } as const;
      const begun = await this.sources.update(source, changes, transaction);
      await this.items.forgetListing(transaction, begun);
      await this.items.add(transaction, begun, begun.files.map(({ id, name, mimeType }) => unknownItem(id, name, 'selected', mimeType)));
      return begun;
    });
  }

  /** Reads a page of changes. @throws DriveFailure, LeaseLost */
  async read(source: ClaimedSource, access: DriveAccess, signal: AbortSignal): Promise<ClaimedSource> {
    const page = source.changeToken === null ? null : await unlessLost(this.api.changes(access, source.changeToken, signal));
    return this.sources.whileHeld(source, async (transaction) => {
      if (!page || source.changePages >= MAX_CHANGE_PAGES) return this.relist(transaction, source);
      const changeToken = page.nextPageToken ?? page.newStartPageToken;
      if (changeToken === undefined || (page.nextPageToken !== undefined && changeToken === source.changeToken)) return this.relist(transaction, source);
      const applied = await this.apply(transaction, source, page.changes);
      if (!applied) return this.relist(transaction, source);
      const phase = page.nextPageToken === undefined ? 'work' : 'changes';
      return this.sources.update(applied, { phase, changeToken, changePages: source.changePages + 1 }, transaction);
    });
  }

  /** @returns null where everything has to be listed */
  private async apply(transaction: Transaction, source: ClaimedSource, changes: readonly DriveChange[]): Promise<ClaimedSource | null> {
    const ids = changes.flatMap(({ fileId, file }) => [fileId, ...(file?.parents ?? [])]);
    const known = await this.items.known(transaction, source, [...new Set(ids)]);
    const effects = changes.map((change) => {
      const isInFolder = change.file?.parents.some((parent) => known.get(parent)?.kind === 'folder') ?? false;
      return { change, effect: effectOf(known.get(change.fileId), change.file, isInFolder) };
    });
    if (effects.some(({ effect }) => effect === 'relist')) return null;
    const removed = effects.flatMap(({ change, effect }) => (effect === 'remove' ? [change.fileId] : []));
    const updated = effects.flatMap(({ change, effect }) => (effect === 'update' && change.file ? [change.file] : []));
    await this.items.removeLater(transaction, source, removed);
    return this.listing.add(transaction, source, updated, true);
  }

  private relist(transaction: Transaction, source: ClaimedSource): Promise<ClaimedSource> {
    return this.sources.update(source, { phase: 'begin', changeToken: null, isFull: true }, transaction);
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
