import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../platform/clock/index.js';
import { DatabaseUnavailable, type Transaction } from '../../../../platform/database/index.js';
import { DomainError } from '../../../../platform/errors/index.js';
import { EventBus } from '../../../../platform/events/index.js';
import { Logger } from '../../../../platform/telemetry/index.js';
import { DriveFailure } from '../../domain/drive-failure.js';
import { type ClaimedSource, type DriveItem, endOf, type SourceId } from '../../domain/drive-source.js';
import { KnowledgeChanged } from '../../../index/domain/index.events.js';
import { DriveItemRepository } from '../../persistence/drive-item.repository.js';
import { DriveSourceRepository, LeaseLost } from '../../persistence/drive-source.repository.js';
import { DriveAccounts } from '../drive-accounts.js';
import type { DriveAccess } from '../drive-http.js';
import { MAX_ATTEMPTS, MAX_FILES, MAX_STALL_MS, MAX_STALLS, STALL_PAUSE_MS, STEP_ITEMS, STEP_LEASE_MS, SYNC_EVERY_MS } from '../../limits.js';
import { DriveChanges } from './drive-changes.js';
import { DriveFetching } from './drive-fetching.js';
import { DriveListing } from './drive-listing.js';

/** Enqueues a source's next step in the transaction that ends the present one. */
export type EnqueueStep = (transaction: Transaction, source: SourceId, delaySeconds: number) => Promise<void>;

/** How far one step came: `more` is left, nothing is left, or the drive has to be left alone for a while. */
type StepEnd =
  | { readonly kind: 'more'; readonly source: ClaimedSource; readonly gotOn: boolean }
  | { readonly kind: 'done'; readonly source: ClaimedSource }
  | { readonly kind: 'stalled'; readonly source: ClaimedSource; readonly failure: DriveFailure; readonly gotOn: boolean };

/**
 * One step of a sync: some files, or one page of changes. What is left is in the items' rows, and the
 * next step is enqueued in the transaction that ends this one, so that a worker killed at any point loses nothing but its present file.
 */
@Injectable()
export class SyncDriveSource {
  constructor(
    private readonly sources: DriveSourceRepository,
    private readonly items: DriveItemRepository,
    private readonly accounts: DriveAccounts,
    private readonly changes: DriveChanges,
    private readonly listing: DriveListing,
    private readonly fetching: DriveFetching,
    private readonly clock: Clock,
    private readonly events: EventBus,
    private readonly logger: Logger,
  ) {}

  async step(id: SourceId, signal: AbortSignal, enqueue: EnqueueStep): Promise<void> {
    const source = await this.sources.claim(id, this.clock.now(), this.leaseEnd());
    if (!source) return;
    try {
      await this.finish(source, await this.work(source, signal), enqueue);
    } catch (error) {
      if (error instanceof LeaseLost) return;
      if (error instanceof DriveFailure) {
        await this.end(source, 'FAILED', error.message).catch(unlessLeaseLost);
        return;
      }
      // The next attempt need not wait for the lease to end.
      await this.release(source, source.stalls, enqueue).catch(() => undefined);
      throw error;
    } finally {
      this.events.publish(new KnowledgeChanged(source.organizationId, source.agentId));
    }
  }

  private async work(claimed: ClaimedSource, signal: AbortSignal): Promise<StepEnd> {
    const access = this.accounts.accessOf(claimed);
    if (claimed.phase === 'work') return this.workOff(claimed, access, signal);
    try {
      const source = await (claimed.phase === 'begin' ? this.changes.begin(claimed, access, signal) : this.changes.read(claimed, access, signal));
      return { kind: 'more', source, gotOn: true };
    } catch (error) {
      if (error instanceof DriveFailure && error.isPassing) return { kind: 'stalled', source: claimed, failure: error, gotOn: false };
      throw error;
    }
  }

  private async workOff(claimed: ClaimedSource, access: DriveAccess, signal: AbortSignal): Promise<StepEnd> {
    let source = claimed;
    let gotOn = false;
    const items = await this.items.next(source, STEP_ITEMS);
    if (items.length === 0 && !source.isFull) return { kind: 'done', source };
    for (const [index, item] of items.entries()) {
      // The first page of a folder may bring work that comes before what was read here.
      if (index > 0 && item.todo === 'fetch' && items[0]?.todo !== 'fetch') break;
      signal.throwIfAborted();
      await this.sources.update(source, { dueAt: this.leaseEnd() });
      try {
        const worked = await this.workOn(source, access, item, signal);
        source = worked ?? source;
        gotOn ||= worked !== null;
      } catch (error) {
        if (!(error instanceof DriveFailure) || !error.isPassing) throw error;
        return { kind: 'stalled', source, failure: error, gotOn };
      }
    }
    return { kind: 'more', source: await this.endListing(source), gotOn: gotOn || items.length === 0 };
  }

  /** @returns null where it came to nothing */
  private async workOn(source: ClaimedSource, access: DriveAccess, item: DriveItem, signal: AbortSignal): Promise<ClaimedSource | null> {
    switch (item.todo) {
      case 'look_up':
        return this.listing.lookUp(source, access, item, signal);
      case 'list':
        return this.listing.list(source, access, item, signal);
      case 'remove':
        await this.fetching.remove(source, item);
        return source;
      case 'fetch':
        return (await this.fetch(source, access, item, signal)) ? source : null;
      case null:
        return source;
    }
  }

  /** Begun too often without an end, a file is given up for this sync: it may be what ends the process. */
  private async fetch(source: ClaimedSource, access: DriveAccess, item: DriveItem, signal: AbortSignal): Promise<boolean> {
    const attempt = item.attempts + 1;
    await this.items.countAttempt(source, item);
    let error: unknown;
    if (attempt <= MAX_ATTEMPTS) {
      try {
        await this.fetching.fetch(source, access, item, signal);
        return true;
      } catch (failure) {
        signal.throwIfAborted();
        error = ofFile(failure);
      }
      if (!(error instanceof DriveFailure)) this.logger.warn({ err: error, sourceId: source.id }, 'A file of a drive could not be read');
      if (attempt < MAX_ATTEMPTS) throw error instanceof DriveFailure ? error : new DriveFailure('unreachable', UNREAD);
    }
    await this.fetching.fail(source, item, error instanceof DomainError ? error.message : UNREAD);
    return false;
  }

  /** Once everything was listed, what was not seen is gone. */
  private async endListing(source: ClaimedSource): Promise<ClaimedSource> {
    if (!source.isFull) return source;
    return this.sources.whileHeld(source, async (transaction) => {
      if (await this.items.isListing(transaction, source)) return source;
      await this.items.removeUnseen(transaction, source);
      return this.sources.update(source, { isFull: false }, transaction);
    });
  }

  private async finish(claimed: ClaimedSource, step: StepEnd, enqueue: EnqueueStep): Promise<void> {
    if (step.kind === 'more') {
      await this.release(step.source, step.gotOn ? 0 : claimed.stalls, enqueue);
      return;
    }
    if (step.kind === 'done') {
      const { state, lastError } = endOf(await this.items.totals(step.source), MAX_FILES);
      await this.end(step.source, state, lastError);
      return;
    }
    const { source, failure, gotOn } = step;
    const stalls = gotOn ? 1 : claimed.stalls + 1;
    if (stalls > MAX_STALLS) {
      await this.end(source, 'FAILED', failure.message);
      return;
    }
    const pauseMs = Math.min(MAX_STALL_MS, Math.max(failure.retryAfterMs ?? 0, STALL_PAUSE_MS * 2 ** (stalls - 1)));
    await this.release(source, stalls, enqueue, pauseMs);
  }

  private leaseEnd(): Date {
    return new Date(this.clock.now().getTime() + STEP_LEASE_MS);
  }

  /** Gives the source back, together with the job that goes on with it. */
  private async release(source: ClaimedSource, stalls: number, enqueue: EnqueueStep, pauseMs = 0): Promise<void> {
    const dueAt = new Date(this.clock.now().getTime() + pauseMs);
    await this.sources.whileHeld(source, async (transaction) => {
      await this.sources.update(source, { lease: null, dueAt, stalls }, transaction);
      await enqueue(transaction, source, Math.ceil(pauseMs / 1_000));
    });
  }

  private async end(source: ClaimedSource, state: 'SUCCESS' | 'PARTIAL_SUCCESS' | 'FAILED', lastError: string | null): Promise<void> {
    const now = this.clock.now();
    const nextSyncAt = new Date(now.getTime() + SYNC_EVERY_MS * (0.9 + 0.2 * fractionOf(source.id)));
    await this.sources.update(source, { lease: null, state, lastError, nextSyncAt, ...(state !== 'FAILED' && { lastSuccessfulSyncAt: now }) });
  }
}

function unlessLeaseLost(error: unknown): void {
  if (!(error instanceof LeaseLost)) throw error;
}

const UNREAD = 'The file could not be read.';

/** @throws what is not about the one file */
function ofFile(failure: unknown): unknown {
  const isOther = failure instanceof LeaseLost || failure instanceof DatabaseUnavailable;
  if (isOther || (failure instanceof DriveFailure && (failure.reason === 'busy' || failure.reason === 'refused'))) throw failure;
  return failure;
}

/** From 0 to 1, always the same for a source: so the syncs of all are spread. */
function fractionOf(id: string): number {
  return createHash('sha256').update(id).digest().readUInt32BE(0) / 2 ** 32;
}
