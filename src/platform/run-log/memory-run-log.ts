import type { Clock } from '../clock/index.js';
import { type LogListener, MemoryLog } from './memory-log.js';
import { RunLog, type RunLogEntry } from './run-log.js';
import { ENDED_LOG_BYTES, ENDED_LOG_MS } from './limits.js';

/** Keeps ended logs for `ENDED_LOG_MS`, and fewer of them when they outgrow `ENDED_LOG_BYTES`. */
export class MemoryRunLog extends RunLog {
  private readonly logs = new Map<string, MemoryLog>();
  /** Ended logs, the first to go first. */
  private readonly ended = new Map<string, number>();
  private endedBytes = 0;

  constructor(private readonly clock: Clock) {
    super();
  }

  /** @param copy receives every entry of the log */
  open(runId: string, copy?: LogListener): MemoryLog {
    this.forgetOld();
    const log = new MemoryLog({
      appended: (entry) => copy?.appended(entry),
      ended: () => {
        this.ended.set(runId, this.clock.monotonic());
        this.endedBytes += log.bytes;
        copy?.ended();
      },
    });
    this.logs.set(runId, log);
    return log;
  }

  has(runId: string): boolean {
    return this.logs.has(runId);
  }

  read(runId: string, after: number, signal: AbortSignal): Promise<AsyncIterable<readonly RunLogEntry[]> | null> {
    this.forgetOld();
    return Promise.resolve(this.logs.get(runId)?.read(after, signal) ?? null);
  }

  seal(runId: string, tag: string, data: string): Promise<void> {
    this.logs.get(runId)?.seal(tag, data);
    return Promise.resolve();
  }

  private forgetOld(): void {
    const oldest = this.clock.monotonic() - ENDED_LOG_MS;
    for (const [runId, endedAt] of this.ended) {
      if (endedAt > oldest && this.endedBytes <= ENDED_LOG_BYTES) return;
      this.endedBytes -= this.logs.get(runId)?.bytes ?? 0;
      this.logs.delete(runId);
      this.ended.delete(runId);
    }
  }
}
