import { describe, expect, it } from '@jest/globals';
import type { HistoryMessage } from '../domain/message.js';
import { bytesOf, HistoryCache, type CachedHistory } from './history-cache.js';
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

function tailOf(...messages: HistoryMessage[]): CachedHistory {
  return { messages, before: 0, bytes: bytesOf(messages) };
}

describe('what a process remembers of a thread', () => {
  it('is given at the revision it was kept at, and at no other', () => {
    const recent = new HistoryCache();
    const tail = tailOf(said('Hello'));
    recent.set('a', 2, tail);
    expect(recent.find('a', 2)).toBe(tail);
    expect(recent.find('a', 3)).toBeUndefined();
    // What has changed once cannot become true again.
    expect(recent.find('a', 2)).toBeUndefined();
    expect(recent.find('b', 2)).toBeUndefined();
  });

  it('makes room for others, the thread used last staying longest', () => {
    const recent = new HistoryCache();
    const fifth = tailOf(said('x'.repeat(HISTORY_CACHE_BYTES / 5 - 350)));
    for (const id of ['a', 'b', 'c', 'd', 'e']) recent.set(id, 1, fifth);
    recent.set('a', 2, fifth);
    recent.set('f', 1, fifth);
    expect(recent.find('b', 1)).toBeUndefined();
    for (const id of ['c', 'd', 'e', 'f']) expect(recent.find(id, 1)).toBe(fifth);
    expect(recent.find('a', 2)).toBe(fifth);
  });

  it('is nothing of a thread that would push out all the others', () => {
    const recent = new HistoryCache();
    recent.set('small', 1, tailOf(said('Hello')));
    recent.set('large', 1, tailOf(said('x'.repeat(HISTORY_CACHE_BYTES / 4))));
    expect(recent.find('large', 1)).toBeUndefined();
    expect(recent.find('small', 1)).toBeDefined();
  });
});
