import { EventType } from '@ag-ui/core';
import { Injectable } from '@nestjs/common';
import { AgentDirectory } from '../../agents/index.js';
import { Clock } from '../../platform/clock/index.js';
import { DatabaseUnavailable } from '../../platform/database/index.js';
import { ENDED_LOG_MS, RunLog, type RunLogEntry, RunLogUnavailable } from '../../platform/run-log/index.js';
import { isReasoning, type RunEvent } from '../engine/agui-events.js';
import { replayRun } from '../engine/replay-run.js';
import { ShownEvents } from '../engine/shown-events.js';
import type { StoredRun } from '../persistence/run-reader.repository.js';
import { type AwaitedRun, RunEnds } from './run-ends.js';
import { PLAIN, REASONING } from './run-supervisor.js';
import { SilentLogs } from './silent-logs.js';

export type RunEntries = AsyncIterable<readonly RunLogEntry[]>;

/** A log that can be read. */
interface OpenLog {
  readonly entries: RunEntries;
  /** Ends the reading. */
  readonly giveUp: AbortController;
}

/**
 * Events that are made from the stored run have numbers from here on, behind those of every log. So a reader that
 * rejoins after one of them gets only the end of a log, and nothing again.
 */
const STORED_FROM = 900_000_000;
/** How often a log that could not be read is tried again. */
const LOG_AGAIN_MS = 2_000;

/**
 * Reads the events of a run of another process. When its log cannot be read, or no further, or does not go on although
 * the run has ended, the reader waits for the stored end and then gets what it has not been sent; when the log can be read again before, it goes on in the log.
 */
@Injectable()
export class FollowRun {
  constructor(
    private readonly log: RunLog,
    private readonly ends: RunEnds,
    private readonly silentLogs: SilentLogs,
    private readonly agents: AgentDirectory,
    private readonly clock: Clock,
  ) {}

  /** All events, of a run of any age. */
  async whole(awaited: AwaitedRun, signal: AbortSignal): Promise<RunEntries> {
    return this.follow(await this.readable(awaited, 0, signal), awaited, 0, signal);
  }

  /**
   * The events after this number. When the position is not known, since nothing has the events before it, they are only
   * the terminal one, which has the whole reply.
   * @returns null when the events are no longer kept
   */
  async after(awaited: AwaitedRun, after: number, signal: AbortSignal): Promise<RunEntries | null> {
    const log = await this.readable(awaited, 0, signal);
    if (!log && this.hasExpired(awaited.stored)) return null;
    return this.follow(log, awaited, after, signal);
  }

  private async *follow(first: OpenLog | null, awaited: AwaitedRun, after: number, signal: AbortSignal): RunEntries {
    const progress = new Progress();
    let log = first;
    while (!signal.aborted) {
      if (log && (yield* this.untilFailure(log, awaited, progress, after))) return;
      // While the log was read the database was not, which says nothing about it.
      if (log) awaited.readAt = this.clock.monotonic();
      const rest = await this.storedRest(awaited, progress, after, signal);
      if (rest) {
        yield rest;
        return;
      }
      log = await this.readable(awaited, progress.count, signal);
    }
  }

  /** @returns whether the log was read to its end */
  private async *untilFailure(
    log: OpenLog,
    awaited: AwaitedRun,
    progress: Progress,
    after: number,
  ): AsyncGenerator<readonly RunLogEntry[], boolean> {
    let isLate = false;
    let isWhole: boolean;
    const followed = this.silentLogs.follow(awaited, () => log.giveUp.abort());
    try {
      for await (const batch of log.entries) {
        followed.heard();
        for (const entry of batch) progress.add(entry);
        const rest = batch.filter(({ number }) => number > after);
        isLate = rest.length === 0;
        if (!isLate) yield rest;
        followed.waits();
      }
      isWhole = !log.giveUp.signal.aborted;
    } catch (error) {
      if (!(error instanceof RunLogUnavailable)) throw error;
      isWhole = false;
    } finally {
      followed.leave();
    }
    // The mark of a log's end may be missing behind its last event.
    if (!isWhole && !progress.isOver) return false;
    // As a log does for a position behind its end.
    if (isLate && progress.last) yield [{ ...progress.last, number: after + 1 }];
    return true;
  }

  /**
   * What the reader has not been sent, made from the stored end.
   * @returns null when the run is still under way, or the database has just become unreadable
   */
  private async storedRest(
    awaited: AwaitedRun,
    { shown, count }: Progress,
    after: number,
    signal: AbortSignal,
  ): Promise<RunLogEntry[] | null> {
    const stored = await this.storedEnd(awaited, signal);
    if (!stored) return null;
    const { organizationId, agentId } = stored.run;
    const agent = await this.agents.find(organizationId, agentId).catch(unknownWithoutDatabase);
    if (agent === 'unknown') return null;
    const events = [...replayRun(stored, agent?.toolProgress ?? false, shown)];
    const isKnown = count >= after;
    return (isKnown ? events : events.slice(-1)).map((event, index) => ({
      number: Math.max(STORED_FROM, after + 1) + index,
      tag: isReasoning(event) ? REASONING : PLAIN,
      data: JSON.stringify(event),
    }));
  }

  /** @returns null when the run is still under way */
  private async storedEnd(awaited: AwaitedRun, signal: AbortSignal): Promise<StoredRun | null> {
    try {
      return await this.ends.wait(awaited, signal, LOG_AGAIN_MS);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      throw new RunLogUnavailable('Neither its log nor the database can be read', error);
    }
  }

  private async readable({ reference }: AwaitedRun, after: number, signal: AbortSignal): Promise<OpenLog | null> {
    const giveUp = new AbortController();
    try {
      const entries = await this.log.read(reference.runId, after, AbortSignal.any([signal, giveUp.signal]));
      return entries && { entries, giveUp };
    } catch (error) {
      if (error instanceof RunLogUnavailable) return null;
      throw error;
    }
  }

  private hasExpired(stored: StoredRun | null): boolean {
    const endedAt = stored?.run.completedAt;
    return endedAt ? this.clock.now().getTime() - endedAt.getTime() > ENDED_LOG_MS : false;
  }
}

function unknownWithoutDatabase(error: unknown): 'unknown' {
  if (error instanceof DatabaseUnavailable) return 'unknown';
  throw error;
}

/**
 * What a log has given so far, from its first event on, so that the rest can be made from the stored run when the log
 * fails. It keeps the text of the reply and not the events, since many readers may follow a run with large results.
 */
class Progress {
  readonly shown = new ShownEvents();
  count = 0;
  isOver = false;
  last: RunLogEntry | undefined;

  add(entry: RunLogEntry): void {
    const event = JSON.parse(entry.data) as RunEvent;
    this.shown.add(event);
    this.count += 1;
    this.isOver = event.type === EventType.RUN_FINISHED || event.type === EventType.RUN_ERROR;
    this.last = entry;
  }
}
