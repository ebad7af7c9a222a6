import { describe, expect, it } from '@jest/globals';
import type { HistoryMessage } from '../domain/message.js';
import { estimateBytes, HistoryCache, type CachedHistory } from './history-cache.js';
import { Registry } from 'prom-client';
import { Metrics } from '../../platform/metrics/index.js';
import { HISTORY_CACHE_BYTES } from './limits.js';

function said(content: string): HistoryMessage {
  return {
    id: content,
    runId: null,
    role: 'user',
    content,
    blocked: false,
    toolCalls: [],
    transcript: [],
  };
}

function historyOf(...messages: HistoryMessage[]): CachedHistory {
  return { messages, before: 0, bytes: estimateBytes(messages) };
}

describe('the cached history of a thread', () => {
  it('is found only at the revision at which it was set', () => {
    const cache = new HistoryCache(new Metrics(new Registry()));
    const history = historyOf(said('Hello'));
    cache.set('a', 2, history);
    expect(cache.find('a', 2)).toBe(history);
    expect(cache.find('a', 3)).toBeUndefined();
    expect(cache.find('b', 2)).toBeUndefined();
  });

  it('is dropped for others, the least recently used thread first', () => {
    const cache = new HistoryCache(new Metrics(new Registry()));
    const fifth = historyOf(said('x'.repeat(HISTORY_CACHE_BYTES / 5 - 700)));
    for (const id of ['a', 'b', 'c', 'd', 'e']) cache.set(id, 1, fifth);
    cache.set('a', 2, fifth);
    cache.set('f', 1, fifth);
    expect(cache.find('b', 1)).toBeUndefined();
    for (const id of ['c', 'd', 'e', 'f']) expect(cache.find(id, 1)).toBe(fifth);
    expect(cache.find('a', 2)).toBe(fifth);
  });

  it('is not kept when it would evict all others', () => {
    const cache = new HistoryCache(new Metrics(new Registry()));
    cache.set('small', 1, historyOf(said('Hello')));
    cache.set('large', 1, historyOf(said('x'.repeat(HISTORY_CACHE_BYTES / 4))));
    expect(cache.find('large', 1)).toBeUndefined();
    expect(cache.find('small', 1)).toBeDefined();
  });
});
