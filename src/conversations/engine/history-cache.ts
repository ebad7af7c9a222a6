import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Metrics } from '../../platform/metrics/index.js';
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
  private readonly threads = new LRUCache<string, Entry>({
    maxSize: HISTORY_CACHE_BYTES,
    // One large thread must not evict all the others.
    maxEntrySize: HISTORY_CACHE_BYTES / 4,
    sizeCalculation: ({ history }) => Math.max(1, history.bytes),
  });

  constructor(metrics: Metrics) {
    const help = 'Histories of threads that this process remembers, in bytes, estimated.';
    metrics.gauge({ name: 'agent_service_history_cache_bytes', help, labels: {} }, () => this.threads.calculatedSize);
  }

  /** @returns undefined when the thread is not cached, or has changed */
  find(threadId: string, revision: number): CachedHistory | undefined {
    const entry = this.threads.get(threadId);
    return entry?.revision === revision ? entry.history : undefined;
  }

  /** @param revision the thread's revision with these as its newest messages */
  set(threadId: string, revision: number, history: CachedHistory): void {
    this.threads.set(threadId, { history, revision });
  }
}

/** The approximate size of a message, or of one of its attachments, without text: what the heap grew by for each of 40,000. */
const MESSAGE_BYTES = 700;

export function estimateBytes(messages: readonly HistoryMessage[]): number {
  return messages.reduce((sum, { content, toolCalls, transcript, attachments = [], additionalContext = [] }) => {
    const context = additionalContext.reduce((length, text) => length + text.length, 0);
    const tools = toolCalls.length === 0 ? 0 : JSON.stringify([toolCalls, transcript]).length;
    return sum + MESSAGE_BYTES * (1 + attachments.length) + content.length + context + tools;
  }, 0);
}
