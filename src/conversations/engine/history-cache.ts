import { Injectable } from '@nestjs/common';
import type { HistoryMessage } from '../domain/message.js';
import { RECENT_BYTES } from './limits.js';

/** The newest messages of a thread, oldest first. */
export interface CachedHistory {
  readonly messages: readonly HistoryMessage[];
  /** How many the thread has before them; null where nobody has counted. */
  readonly before: number | null;
  /** What they take in memory. */
  readonly bytes: number;
}

interface Kept {
  readonly tail: CachedHistory;
  readonly revision: number;
}

/**
 * What this process has read and written of the threads it talks on, so that a run reads nothing that the
 * run before has. Every start and every end of a run, in whichever process, counts the thread's revision up
 * in the statement that stores its message: a tail of the revision that a run has started at is what the
 * database holds.
 */
@Injectable()
export class HistoryCache {
  /** The one used last is the last one. */
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
    // Talking on one thread must not cost all the others their place.
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
  return messages.reduce((sum, { content, toolCalls, transcript, attachments = [] }) => {
    const tools = toolCalls.length === 0 ? 0 : JSON.stringify([toolCalls, transcript]).length;
    return sum + MESSAGE_BYTES * (1 + attachments.length) + content.length + tools;
  }, 0);
}
