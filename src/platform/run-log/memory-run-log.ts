import type { Clock } from '../clock/index.js';
import { TransientMap } from '../heap/index.js';
import { EndedLogs } from './ended-logs.js';
import { RunLog, type RunLogEntry, type RunLogWriter } from './run-log.js';
import { ENDED_LOG_BYTES } from './limits.js';

export interface LogListener {
  appended(entry: RunLogEntry): void;
  ended(): void;
}

/** Keeps logs for some time after their end. */
export class MemoryRunLog extends RunLog {
  private readonly logs = new TransientMap<MemoryLog>();
  private readonly ended: EndedLogs;

  constructor(clock: Clock, endedBytes = ENDED_LOG_BYTES) {
    super();
    this.ended = new EndedLogs(clock, endedBytes);
  }

  get endedBytes(): number {
    return this.ended.bytes;
  }

  open(runId: string, copy?: LogListener): MemoryLog {
    this.ended.removeOld();
    const log = new MemoryLog({
      appended: (entry) => copy?.appended(entry),
      ended: () => {
        copy?.ended();
        // After the readers of the run have read its end. Slower ones keep the log itself.
        setImmediate(() => {
          this.logs.delete(runId);
          this.ended.add(runId, log.entries);
        });
      },
    });
    this.logs.set(runId, log);
    return log;
  }

  has(runId: string): boolean {
    return this.logs.has(runId) || this.ended.has(runId);
  }

  read(runId: string, after: number, signal: AbortSignal): Promise<AsyncIterable<readonly RunLogEntry[]> | null> {
    const log = this.logs.get(runId);
    if (log) return Promise.resolve(log.read(after, signal));
    this.ended.removeOld();
    const entries = this.ended.get(runId);
    return Promise.resolve(entries && readEnded(entries, after));
  }

  seal(runId: string, tag: string, data: string): Promise<void> {
    this.logs.get(runId)?.seal(tag, data);
    return Promise.resolve();
  }
}

async function* readEnded(entries: readonly RunLogEntry[], after: number): AsyncGenerator<readonly RunLogEntry[]> {
  const rest = entriesAfter(entries, after);
  if (rest.length > 0) yield rest;
}

/**
 * Of an ended log. A process that died may have sent its readers more than other processes have of the log, which then ends
 * before their position. They would wait for the end of the run for ever, so they get the last entry with the next number.
 */
function entriesAfter(entries: readonly RunLogEntry[], after: number): readonly RunLogEntry[] {
  const last = entries.at(-1);
  return last && after >= entries.length ? [{ ...last, number: after + 1 }] : entries.slice(after);
}

export class MemoryLog implements RunLogWriter {
  readonly entries: RunLogEntry[] = [];
  private readonly notes: RunLogEntry[] = [];
  private readonly waiting = new Set<() => void>();
  private wakeScheduled = false;
  private state: 'open' | 'ended' | 'sealed' = 'open';
  private failure: Error | undefined;

  constructor(private readonly listener?: LogListener) {}

  get ended(): boolean {
    return this.state !== 'open';
  }

  append(tag: string, data: string): void {
    if (this.state === 'sealed') return;
    if (this.state === 'ended') throw new Error('The log of this run has ended');
    const entry = { number: this.entries.length + 1, tag, data };
    this.entries.push(entry);
    this.wake();
    this.listener?.appended(entry);
  }

  note(tag: string, data: string): void {
    if (this.ended) return;
    this.notes.push({ number: this.entries.length, tag, data });
    this.wake();
  }

  end(): void {
    this.finish('ended');
  }

  seal(tag: string, data: string): void {
    if (this.ended) return;
    this.append(tag, data);
    this.finish('sealed');
  }

  /** Readers get the entries that are here and then this error, because the rest of the log is unknown. */
  fail(error: Error): void {
    this.failure ??= error;
    this.wake();
  }

  async *read(after: number, signal: AbortSignal): AsyncGenerator<readonly RunLogEntry[]> {
    let cursor = after;
    let noted = this.notes.length;
    const aborted = this.wake.bind(this);
    signal.addEventListener('abort', aborted, { once: true });
    try {
      while (!signal.aborted) {
        if (cursor < this.entries.length) {
          const batch = this.entries.slice(cursor);
          cursor += batch.length;
          yield batch;
        } else if (noted < this.notes.length) {
          const batch = this.notes.slice(noted);
          noted += batch.length;
          yield batch;
        } else if (this.ended) {
          if (cursor === after) yield entriesAfter(this.entries, after);
          return;
        } else if (this.failure) {
          throw this.failure;
        } else {
          await new Promise<void>((resolve) => this.waiting.add(resolve));
        }
      }
    } finally {
      signal.removeEventListener('abort', aborted);
    }
  }

  private finish(state: 'ended' | 'sealed'): void {
    if (this.ended) return;
    this.state = state;
    this.wake();
    this.listener?.ended();
  }

  /** Readers continue when the writer waits for something, so that they get all that it wrote until then at once. */
  private wake(): void {
    if (this.wakeScheduled || this.waiting.size === 0) return;
    this.wakeScheduled = true;
    process.nextTick(() => {
      this.wakeScheduled = false;
      const resolves = [...this.waiting];
      this.waiting.clear();
      for (const resolve of resolves) resolve();
    });
  }
}
