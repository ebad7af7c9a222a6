import { Injectable } from '@nestjs/common';
import type { ModelMessage } from '../../models/index.js';
import { blockedAmong, type HistoryEntry, type HistoryMessage, toModelMessages } from '../domain/message.js';
import { MessageRepository } from '../persistence/message.repository.js';
import type { RunContext } from '../ports/index.js';
import { charactersOf, roomBeside, sum, withChosenAttachments } from './choose-attachments.js';
import { exchangesOf, newestThatFit, sizeOf } from './truncate-history.js';
import { LoadAttachments } from './load-attachments.js';
import { bytesOf, HistoryCache, type CachedHistory } from './history-cache.js';
import { HISTORY_PAGE, HISTORY_PAGE_BYTES, MAX_HISTORY_MESSAGES } from './limits.js';
import { contextCharacters } from './model-context.js';
import type { RunState } from './run-state.js';

export interface LoadedHistory {
  /** Oldest first. */
  readonly exchanges: readonly (readonly ModelMessage[])[];
  /** The exchange that the run resumes; empty for a run that begins with a message. */
  readonly currentMessages: readonly ModelMessage[];
  /** Messages of the thread that the model does not get, because they do not fit or are too many. */
  readonly omittedMessages: number;
  /** The messages that were read, for the cache. */
  readonly tail: CachedHistory;
}

const NOTHING_BEFORE: CachedHistory = { messages: [], before: 0, bytes: 0 };
const NOT_READ: CachedHistory = { messages: [], before: null, bytes: 0 };

/** How this run converts a thread's messages for the model, and the room for them. */
interface Reading {
  /** The run resumes the last exchange, which is read as a whole. */
  readonly resumes: boolean;
  /** In characters. */
  readonly budget: number;
  readonly entriesOf: (messages: readonly HistoryMessage[]) => HistoryEntry[];
}

/**
 * Reads a thread's messages, the newest first, until the model's context is full. Messages in the cache are not read.
 */
@Injectable()
export class LoadHistory {
  constructor(
    private readonly messages: MessageRepository,
    private readonly cache: HistoryCache,
    private readonly attachments: LoadAttachments,
  ) {}

  async run({ context, revision }: RunState): Promise<LoadedHistory> {
    if (context.isFirstRun) return { exchanges: [], currentMessages: [], omittedMessages: 0, tail: NOTHING_BEFORE };
    const reading = readingOf(context);
    const cached = revision === null ? undefined : this.cache.find(context.threadId, revision);
    const { tail, entries } = await this.read(context, cached ?? NOT_READ, reading);
    const all = exchangesOf(entries);
    const currentMessages = reading.resumes ? (all.pop() ?? []) : [];
    const inReach = all.slice(Math.max(0, all.length - exchangesWithin(tail.messages) + (reading.resumes ? 1 : 0)));
    const exchanges = newestThatFit(inReach, reading.budget - sizeOf(currentMessages));
    const kept = exchanges.length + (reading.resumes ? 1 : 0);
    const complete = tail.before === 0 && exchanges.length === all.length;
    const [loaded, [loadedCurrent = []], counted] = await Promise.all([
      this.attachments.run(context, exchanges),
      this.attachments.run(context, [currentMessages]),
      complete ? { ...tail, before: 0 } : this.counted(context, tail),
    ]);
    const omittedMessages = complete ? 0 : counted.before + startOf(counted.messages, kept);
    return { exchanges: loaded, currentMessages: loadedCurrent, omittedMessages, tail: shortened(counted, kept) };
  }

  /** Reads page after page until there is no more room, or the thread's beginning is reached. */
  private async read(
    { organizationId, threadId, runId }: RunContext,
    known: CachedHistory,
    { resumes, budget, entriesOf }: Reading,
  ): Promise<{ tail: CachedHistory; entries: readonly HistoryEntry[] }> {
    let { messages, before, bytes } = known;
    let oldest = messages[0]?.id ?? null;
    let size = HISTORY_PAGE;
    for (;;) {
      const entries = entriesOf(messages);
      const room = MAX_HISTORY_MESSAGES - messages.length;
      const isFull = room <= 0 || sizeOf(entries) > budget;
      if (before === 0 || (isFull && (!resumes || messages.some(isQuestion)))) {
        return { tail: { messages, before, bytes }, entries };
      }
      const limit = room > 0 ? Math.min(size, room) : size;
      const bounds = { before: oldest, limit, maxBytes: HISTORY_PAGE_BYTES };
      const page = await this.messages.history(organizationId, threadId, bounds);
      oldest = page.messages[0]?.id ?? oldest;
      const earlier = page.messages.filter((message) => message.runId !== runId);
      messages = [...earlier, ...messages];
      bytes += bytesOf(earlier);
      if (!page.hasMore) before = 0;
      else if (before !== null) before -= page.messages.length;
      size *= 2;
    }
  }

  private async counted(
    { organizationId, threadId }: RunContext,
    tail: CachedHistory,
  ): Promise<CachedHistory & { before: number }> {
    const [first] = tail.messages;
    const before = tail.before ?? (first ? await this.messages.countBefore(organizationId, threadId, first.id) : 0);
    return { ...tail, before };
  }
}

function readingOf({ agent, userMessage, decisions }: RunContext): Reading {
  const newest = userMessage?.attachments ?? [];
  const budget = Math.max(0, contextCharacters(agent) - sum(newest.map(charactersOf)));
  const room = roomBeside(newest, budget);
  const resumes = decisions !== null;
  return {
    resumes,
    budget,
    entriesOf: (messages) => withChosenAttachments(toModelMessages(messages, resumes ? 'open' : 'closed'), room),
  };
}

/** The indexes at which exchanges begin; blocked messages begin none. */
function startsOf(messages: readonly HistoryMessage[]): number[] {
  const isBlocked = blockedAmong(messages);
  return messages.flatMap((message, index) => (isQuestion(message) && !isBlocked(message) ? [index] : []));
}

/** How many exchanges lie within the newest `MAX_HISTORY_MESSAGES`. */
function exchangesWithin(messages: readonly HistoryMessage[]): number {
  return startsOf(messages).filter((start) => messages.length - start <= MAX_HISTORY_MESSAGES).length;
}

/** The index at which the newest `exchanges` begin. */
function startOf(messages: readonly HistoryMessage[], exchanges: number): number {
  const questions = startsOf(messages);
  return exchanges === 0 ? messages.length : (questions[questions.length - exchanges] ?? 0);
}

/** Drops messages that the next run will not use: it needs one exchange more than fits. */
function shortened(tail: CachedHistory & { readonly before: number }, kept: number): CachedHistory {
  const { messages, before, bytes } = tail;
  const start = startOf(messages, kept + 1);
  if (start === 0) return tail;
  return { messages: messages.slice(start), before: before + start, bytes: bytes - bytesOf(messages.slice(0, start)) };
}

function isQuestion({ role }: HistoryMessage): boolean {
  return role === 'user';
}
