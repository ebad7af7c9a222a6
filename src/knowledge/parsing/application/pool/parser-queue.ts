import { untilAborted } from '../../../../platform/clock/index.js';
import {
  MAX_PROCESSOR_MS,
  MAX_QUICK_BYTES,
  MAX_SLOW_PARSERS,
  PROCESSOR_MS,
  PROCESSOR_MS_PER_MIB,
} from '../../limits.js';

/** A document that waits for a parser or is being parsed. */
export class QueuedDocument {
  /** A large document is slow from the beginning. Another one becomes slow when it has used much processor time. */
  isSlow: boolean;
  /** Processor time that all attempts together may use, and have used. */
  readonly limitMs: number;
  usedMs = 0;

  constructor(
    readonly organizationId: string,
    size: number,
  ) {
    this.isSlow = size > MAX_QUICK_BYTES;
    this.limitMs = Math.min(MAX_PROCESSOR_MS, PROCESSOR_MS + Math.floor(size / (1024 * 1024)) * PROCESSOR_MS_PER_MIB);
  }
}

/**
 * A fair queue for parsers. The organization whose last document was admitted longest ago is next, with the first of its
 * documents that may run. An organization has one slow document at a time and never all parsers. The slow documents of all
 * organizations leave one parser to quick documents, so a quick document waits only for the quick ones before it.
 */
export class ParserQueue {
  private readonly admissions = new Map<QueuedDocument, PromiseWithResolvers<undefined>>();
  private readonly running = new Set<QueuedDocument>();
  /** The number of each organization's last admission. Cleared when the queue is empty. */
  private readonly lastAdmissions = new Map<string, number>();
  private admitted = 0;

  constructor(private readonly max: number) {}

  get waiting(): number {
    return this.admissions.size;
  }

  /** Resolves when the document may use a parser, until `leave`. @throws the signal's reason, or that of `refuseAll` */
  async enter(document: QueuedDocument, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const admission = Promise.withResolvers<undefined>();
    this.admissions.set(document, admission);
    this.admitNext();
    try {
      await untilAborted(admission.promise, signal);
    } catch (error) {
      this.admissions.delete(document);
      // It may have been admitted just before the signal aborted.
      this.leave(document);
      throw error;
    }
  }

  leave(document: QueuedDocument): void {
    this.running.delete(document);
    this.admitNext();
    if (this.running.size + this.admissions.size === 0) this.lastAdmissions.clear();
  }

  /** Makes a running document a slow one. @returns false if it has to wait for other slow documents */
  becomeSlow(document: QueuedDocument): boolean {
    document.isSlow ||= this.hasRoomForSlow(document.organizationId);
    return document.isSlow;
  }

  refuseAll(reason: Error): void {
    for (const { reject } of this.admissions.values()) reject(reason);
    this.admissions.clear();
  }

  private admitNext(): void {
    for (let next = this.next(); next; next = this.next()) {
      this.running.add(next);
      this.admitted += 1;
      this.lastAdmissions.set(next.organizationId, this.admitted);
      this.admissions.get(next)?.resolve(undefined);
      this.admissions.delete(next);
    }
  }

  private next(): QueuedDocument | undefined {
    const lastAdmission = ({ organizationId }: QueuedDocument): number => this.lastAdmissions.get(organizationId) ?? 0;
    return [...this.admissions.keys()]
      .filter((document) => this.mayRun(document))
      .sort((left, right) => lastAdmission(left) - lastAdmission(right))[0];
  }

  private mayRun({ organizationId, isSlow }: QueuedDocument): boolean {
    if (this.running.size >= this.max || (isSlow && !this.hasRoomForSlow(organizationId))) return false;
    const own = [...this.running].filter((document) => document.organizationId === organizationId);
    return this.max === 1 || own.length < this.max - 1;
  }

  private hasRoomForSlow(organizationId: string): boolean {
    const slow = [...this.running].filter((document) => document.isSlow);
    return slow.length < MAX_SLOW_PARSERS && !slow.some((document) => document.organizationId === organizationId);
  }
}
