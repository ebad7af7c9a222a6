import type { Clock } from '../clock/index.js';
import { ENDED_LOG_MS } from './limits.js';
import type { RunLogEntry } from './run-log.js';

interface Place {
  readonly start: number;
  readonly end: number;
  readonly endedAt: number;
}

/**
 * The entries of ended logs, for `ENDED_LOG_MS`; the oldest are overwritten earlier when there is no more room. They are in one
 * buffer, which is written in rounds: a run's entries, or a buffer of its own for them, would get old before they are removed, and
 * collections of the whole heap would have to be as frequent as the runs are.
 */
export class EndedLogs {
  /** The oldest first: also the order of their places, from `next` on and around. */
  private readonly places = new Map<string, Place>();
  private buffer: Buffer | undefined;
  private next = 0;
  /** Of the logs that are kept. */
  bytes = 0;

  /** @param capacity in bytes; memory is used as it is written */
  constructor(
    private readonly clock: Clock,
    private readonly capacity: number,
  ) {}

  /** A log above the capacity is not kept. */
  add(runId: string, entries: readonly RunLogEntry[]): void {
    // Joining first would fail for a log that is longer than any text can be.
    if (entries.reduce((length, { tag, data }) => length + tag.length + data.length, 0) > this.capacity) return;
    const text = entries.flatMap(({ tag, data }) => [tag, data]).join(SEPARATOR);
    // One more, so that a log without entries has a place of its own.
    const size = Buffer.byteLength(text) + 1;
    if (size > this.capacity) return;
    this.buffer ??= Buffer.allocUnsafeSlow(this.capacity);
    const start = this.makeRoom(size);
    this.next = start + size;
    this.buffer.write(text, start);
    this.places.set(runId, { start, end: this.next, endedAt: this.clock.monotonic() });
    this.bytes += size;
  }

  has(runId: string): boolean {
    return this.places.has(runId);
  }

  /** @returns null for a log that is not kept, or not any more */
  get(runId: string): RunLogEntry[] | null {
    const place = this.places.get(runId);
    if (!place || !this.buffer) return null;
    const parts = this.buffer.toString('utf8', place.start, place.end - 1).split(SEPARATOR);
    return Array.from({ length: parts.length / 2 }, (_, index) => ({
      ...{ number: index + 1, tag: parts[2 * index] ?? '', data: parts[2 * index + 1] ?? '' },
    }));
  }

  removeOld(): void {
    const before = this.clock.monotonic() - ENDED_LOG_MS;
    this.removeWhile(({ endedAt }) => endedAt <= before);
  }

  /** @returns the start of a place whose logs are removed */
  private makeRoom(size: number): number {
    const { next, capacity } = this;
    const fits = next + size <= capacity;
    if (fits) this.removeWhile(({ start }) => start >= next && start < next + size);
    else this.removeWhile(({ start }) => start >= next || start < size);
    return fits ? next : 0;
  }

  private removeWhile(isUnwanted: (place: Place) => boolean): void {
    for (const [runId, place] of this.places) {
      if (!isUnwanted(place)) return;
      this.bytes -= place.end - place.start;
      this.places.delete(runId);
    }
  }
}

/** Separates parts of the text; JSON escapes it. */
const SEPARATOR = '\u001e';
