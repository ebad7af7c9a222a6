import { Injectable } from '@nestjs/common';
import type { HistoryMessage } from '../domain/message.js';
import { HISTORY_CACHE_BYTES } from './limits.js';

/** The newest messages of a thread, oldest first. */
export interface CachedHistory {
  readonly messages: readonly HistoryMessage[];
  /** How many older messages the thread has; null when they were not counted. */
  readonly before: number | null;
  /** Their size in memory, estimated. */
  readonly bytes: number;
}

interface Entry {
  readonly history: CachedHistory;
  readonly revision: number;
}

/**
 * The newest messages of threads that this process has executed runs on, so that the next run need not read them. The
 * statements that start and end a run, in any process, increment the thread's revision. So an entry with the revision
 * at which a run has started equals what the database holds.
 */
@Injectable()
export class HistoryCache {
  /** The least recently used first. */
  private readonly threads = new Map<string, Entry>();
  private bytes = 0;

  /** @returns undefined when the thread is not cached, or has changed */
  find(threadId: string, revision: number): CachedHistory | undefined {
    const entry = this.threads.get(threadId);
    if (entry?.revision === revision) return entry.history;
    this.delete(threadId);
    return undefined;
  }

  /** @param revision the thread's revision with these as its newest messages */
  set(threadId: string, revision: number, history: CachedHistory): void {
    this.delete(threadId);
    // One large thread must not evict all the others.
    if (history.bytes > HISTORY_CACHE_BYTES / 4) return;
    this.threads.set(threadId, { history, revision });
    this.bytes += history.bytes;
    for (const [oldest] of this.threads) {
      if (this.bytes <= HISTORY_CACHE_BYTES) break;
      this.delete(oldest);
    }
  }

  private delete(threadId: string): void {
    this.bytes -= this.threads.get(threadId)?.history.bytes ?? 0;
    this.threads.delete(threadId);
  }
}

/** The approximate size of a message, or of one of its attachments, without text. */
const MESSAGE_BYTES = 350;

export function estimateBytes(messages: readonly HistoryMessage[]): number {
  return messages.reduce((sum, { content, toolCalls, transcript, attachments = [], additionalContext = [] }) => {
    const context = additionalContext.reduce((length, text) => length + text.length, 0);
    const tools = toolCalls.length === 0 ? 0 : JSON.stringify([toolCalls, transcript]).length;
    return sum + MESSAGE_BYTES * (1 + attachments.length) + content.length + context + tools;
  }, 0);
}
