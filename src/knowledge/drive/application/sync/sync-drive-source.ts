import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../../../../platform/clock/index.js';
import { DatabaseUnavailable } from '../../../../platform/database/index.js';
import { DomainError } from '../../../../platform/errors/index.js';
import { TransactionEvents } from '../../../../platform/events/index.js';
import { Outbox } from '../../../../platform/jobs/index.js';
import { Logger } from '../../../../platform/telemetry/index.js';
import { KnowledgeSyncFinished } from '../../../index/domain/knowledge.events.js';
import { DriveFailure, isFailure } from '../../domain/drive-failure.js';
import { type SourceId, type SyncEnd, toSyncEnd } from '../../domain/drive-source.js';
import { syncDrive } from '../../jobs/drive.jobs.js';
import {
  MAX_ATTEMPTS,
  MAX_FILES,
  MAX_STALL_MS,
  MAX_STALLS,
  STALL_PAUSE_MS,
  STEP_ITEMS,
  STEP_LEASE_MS,
  SYNC_EVERY_MS,
} from '../../limits.js';
import type { DriveItem } from '../../persistence/drive.entities.js';
import { DriveItemRepository } from '../../persistence/drive-item.repository.js';
import { type ClaimedSource, DriveSourceRepository, LeaseLost } from '../../persistence/drive-source.repository.js';
import { DriveAccounts } from '../drive-accounts.js';
import { DriveFetching, type SyncStep } from './drive-fetching.js';
import { DriveListing } from './drive-listing.js';

const UNREAD = 'The file could not be read.';

/**
 * One step of a sync: some items, or one page of changes. The remaining work is in the items' rows, and the next step is enqueued
 * in the transaction that ends this one, so a worker that is killed loses only the work on its present file.
 */
@Injectable()
export class SyncDriveSource {
  constructor(
    private readonly sources: DriveSourceRepository,
    private readonly items: DriveItemRepository,
    private readonly accounts: DriveAccounts,
    private readonly listing: DriveListing,
    private readonly fetching: DriveFetching,
    private readonly outbox: Outbox,
    private readonly events: TransactionEvents,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Does nothing while another step has the lease of the source. */
  async execute(id: SourceId, signal: AbortSignal): Promise<void> {
    const source = await this.sources.claim(id, this.clock.now(), this.leaseEnd());
    if (!source) return;
    try {
      await this.step({ source, access: this.accounts.accessFor(source), signal });
    } catch (error) {
      // Another step has the sync now, or it has ended.
      if (!(error instanceof LeaseLost)) throw error;
    }
  }

  private async step(step: SyncStep): Promise<void> {
    const { source } = step;
    try {
      const isDone = await this.work(step);
      await (isDone ? this.end(source, toSyncEnd(await this.items.totals(source), MAX_FILES)) : this.release(source));
    } catch (error) {
      if (error instanceof DriveFailure) return this.stall(source, error);
      // The job is retried; without this the retry would wait until the lease ends.
      if (!(error instanceof LeaseLost)) await this.release(source).catch(() => undefined);
      throw error;
    }
  }

  /** @returns whether the sync is done */
  private async work(step: SyncStep): Promise<boolean> {
    switch (step.source.phase) {
      case 'begin':
        await this.listing.begin(step);
        break;
      case 'changes':
        await this.listing.readChanges(step);
        break;
      case 'work':
        return this.workOnItems(step);
    }
    step.source.stalls = 0;
    return false;
  }

  private async workOnItems(step: SyncStep): Promise<boolean> {
    const { source, signal } = step;
    const items = await this.items.next(source, STEP_ITEMS);
    if (items.length === 0 && !source.isFull) return true;
    for (const item of items) {
      signal.throwIfAborted();
      await this.sources.update(source, { dueAt: this.leaseEnd() });
      if (await this.workOn(step, item)) source.stalls = 0;
    }
    await this.listing.end(source);
    return false;
  }

  /** @returns whether the item made progress */
  private async workOn(step: SyncStep, item: DriveItem): Promise<boolean> {
    switch (item.todo) {
      case 'remove':
        await this.fetching.remove(step.source, item);
        return true;
      case 'look_up':
        await this.listing.lookUp(step, item);
        return true;
      case 'list':
        await this.listing.list(step, item);
        return true;
      case 'fetch':
        return this.fetch(step, item);
      case null:
        return true;
    }
  }

  /** A file that was begun too often fails for this sync: it may be what ends the process. */
  private async fetch(step: SyncStep, item: DriveItem): Promise<boolean> {
    const { source, signal } = step;
    const attempt = item.attempts + 1;
    await this.items.countAttempt(source, item);
    try {
      if (attempt > MAX_ATTEMPTS) throw new DriveFailure('unreachable', UNREAD);
      await this.fetching.fetch(step, item);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (affectsAllFiles(error)) throw error;
      if (!(error instanceof DriveFailure))
        this.logger.warn({ err: error, sourceId: source.id }, 'A file of a drive could not be read');
      if (attempt < MAX_ATTEMPTS) throw error instanceof DriveFailure ? error : new DriveFailure('unreachable', UNREAD);
      await this.fetching.fail(source, item, error instanceof DomainError ? error.message : UNREAD);
      return false;
    }
  }

  /** Enqueues a later step when the drive is unreachable or limits the rate. Too many such steps in a row end the sync. */
  private async stall(source: ClaimedSource, failure: DriveFailure): Promise<void> {
    source.stalls += 1;
    if (!failure.isTransient || source.stalls > MAX_STALLS)
      return this.end(source, { state: 'FAILED', lastError: failure.message });
    const pauseMs = Math.max(failure.retryAfterMs ?? 0, STALL_PAUSE_MS * 2 ** (source.stalls - 1));
    await this.release(source, Math.min(MAX_STALL_MS, pauseMs));
  }

  /** Releases the source and enqueues its next step. */
  private async release(source: ClaimedSource, pauseMs = 0): Promise<void> {
    const { organizationId, id, stalls } = source;
    const dueAt = new Date(this.clock.now().getTime() + pauseMs);
    const options = { dedupeKey: id, delaySeconds: Math.ceil(pauseMs / 1_000) };
    await this.sources.whileHeld(source, async (transaction) => {
      await this.sources.update(source, { lease: null, dueAt, stalls }, transaction);
      await this.outbox.enqueue(transaction, syncDrive, { organizationId, sourceId: id }, options);
    });
  }

  private async end(source: ClaimedSource, { state, lastError }: SyncEnd): Promise<void> {
    const now = this.clock.now();
    const nextSyncAt = new Date(now.getTime() + SYNC_EVERY_MS * (0.9 + 0.2 * fractionOf(source.id)));
    const ended = {
      ...{ lease: null, state, lastError, nextSyncAt },
      ...(state !== 'FAILED' && { lastSuccessfulSyncAt: now }),
    };
    await this.sources.whileHeld(source, async (transaction) => {
      const { organizationId, agentId, id } = source;
      await this.sources.update(source, ended, transaction);
      await this.events.publish(transaction, new KnowledgeSyncFinished(organizationId, agentId, id, now));
    });
  }

  private leaseEnd(): Date {
    return new Date(this.clock.now().getTime() + STEP_LEASE_MS);
  }
}

/** Whether every other file would fail in the same way. */
function affectsAllFiles(error: unknown): boolean {
  return isFailure(error, ['busy', 'refused']) || error instanceof LeaseLost || error instanceof DatabaseUnavailable;
}

/** From 0 to 1, always the same for a source. It spreads the syncs of all sources over time. */
function fractionOf(id: string): number {
  return createHash('sha256').update(id).digest().readUInt32BE(0) / 2 ** 32;
}
