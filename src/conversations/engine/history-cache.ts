import { Injectable } from '@nestjs/common';
import type { HistoryMessage } from '../domain/message.js';
import { RECENT_BYTES } from './limits.js';

/** The newest messages of a thread, oldest first. */
export interface CachedHistory {
  readonly messages: readonly HistoryMessage[];
  /** How many the thread has before them; null where they were not counted. */
  readonly before: number | null;
  /** What they take in memory. */
  readonly bytes: number;
}

interface Kept {
  readonly tail: CachedHistory;
  readonly revision: number;
}

/**
 * The newest messages of threads that this process has run on, so that a run reads nothing that the run before has
 * read or written. Every start and every end of a run, in whichever process, raises the thread's revision in the
 * statement that stores its message: an entry of the revision at which a run has started is what the database holds.
 */
@Injectable()
export class HistoryCache {
  /** In the order of use, the least recently used first. */
  private readonly threads = new Map<string, Kept>();
  private bytes = 0;

  /** @returns undefined where the thread is not kept, or has changed since */
  find(threadId: string, revision: number): CachedHistory | undefined {
    const kept = this.threads.get(threadId);
    if (kept?.revision === revision) return kept.tail;
    this.forget(threadId);
    return undefined;
  }

  /** @param revision of the thread once these were its newest messages */
  keep(threadId: string, revision: number, tail: CachedHistory): void {
    this.forget(threadId);
    // One large thread must not evict all the others.
    if (tail.bytes > RECENT_BYTES / 4) return;
    this.threads.set(threadId, { tail, revision });
    this.bytes += tail.bytes;
    for (const [oldest] of this.threads) {
      if (this.bytes <= RECENT_BYTES) break;
      this.forget(oldest);
    }
  }

  private forget(threadId: string): void {
    this.bytes -= this.threads.get(threadId)?.tail.bytes ?? 0;
    this.threads.delete(threadId);
  }
}

/** What a message, or a file of it, takes beside its text, roughly. */
const MESSAGE_BYTES = 350;

export function bytesOf(messages: readonly HistoryMessage[]): number {
  return messages.reduce((sum, { content, toolCalls, transcript, attachments = [], additionalContext = [] }) => {
    const context = additionalContext.reduce((length, text) => length + text.length, 0);
    const tools = toolCalls.length === 0 ? 0 : JSON.stringify([toolCalls, transcript]).length;
    return sum + MESSAGE_BYTES * (1 + attachments.length) + content.length + context + tools;
  }, 0);
}
