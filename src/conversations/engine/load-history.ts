import { Injectable } from '@nestjs/common';
import type { ModelMessage } from '../../models/index.js';
import { blockedAmong, type HistoryEntry, type HistoryMessage, toModelMessages } from '../domain/message.js';
import { MessageRepository } from '../persistence/message.repository.js';
import type { RunContext } from '../ports/index.js';
import { charactersOf, roomBeside, sum, withChosenAttachments } from './choose-attachments.js';
import { splitIntoExchanges, newestThatFit, characterCount, steadyPosition } from './truncate-history.js';
import { LoadAttachments } from './load-attachments.js';
import { estimateBytes, HistoryCache, type CachedHistory } from './history-cache.js';
import { HISTORY_PAGE, HISTORY_PAGE_BYTES, MAX_HISTORY_MESSAGES, SHARE_AFTER_CUT } from './limits.js';
import { contextCharacters } from './model-context.js';
import type { RunState } from './run-state.js';

export interface LoadedHistory {
  /** Oldest first. */
  readonly exchanges: readonly (readonly ModelMessage[])[];
  /** The exchange that the run resumes; empty for a run that begins with a message. */
  readonly currentMessages: readonly ModelMessage[];
  /** Messages of the thread that the model does not get, because they do not fit or are too many. */
  readonly omittedMessages: number;
  readonly history: CachedHistory;
}

const NOTHING_BEFORE: CachedHistory = { messages: [], before: 0, bytes: 0 };
const NOT_READ: CachedHistory = { messages: [], before: null, bytes: 0 };

/** How this run converts a thread's messages for the model, and the room for them. */
interface Reading {
  /** The run resumes the last exchange, which is read as a whole. */
  readonly resumes: boolean;
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
    if (context.isFirstRun) return { exchanges: [], currentMessages: [], omittedMessages: 0, history: NOTHING_BEFORE };
    const reading = planReading(context);
    const cached = revision === null ? undefined : this.cache.find(context.threadId, revision);
    const { history, entries } = await this.read(context, cached ?? NOT_READ, reading);
    const all = splitIntoExchanges(entries);
    const resumed = reading.resumes ? 1 : 0;
    const currentMessages = reading.resumes ? (all.pop() ?? []) : [];
    const fitting = (share: number): number => {
      const characters = (reading.budget - characterCount(currentMessages)) * share;
      return Math.min(newestThatFit(all, characters).length, exchangesWithin(history.messages, share) - resumed);
    };
    const most = Math.max(0, fitting(1));
    const complete = history.before === 0 && most === all.length;
    const counted = complete ? { ...history, before: 0 } : await this.counted(context, history);
    const least = Math.max(Math.min(1, most), fitting(SHARE_AFTER_CUT));
    const kept = complete ? most + resumed : steadyExchanges(counted, most + resumed, least + resumed);
    const exchanges = all.slice(all.length - (kept - resumed));
    const [loaded, [loadedCurrent = []]] = await Promise.all([
      this.attachments.run(context, exchanges),
      this.attachments.run(context, [currentMessages]),
    ]);
    const omittedMessages = complete ? 0 : counted.before + exchangeStart(counted.messages, kept);
    const cacheable = shortened(counted, most + resumed);
    return { exchanges: loaded, currentMessages: loadedCurrent, omittedMessages, history: cacheable };
  }

  /** Until there is no more room, or the thread's beginning is reached. */
  private async read(
    { organizationId, threadId, runId }: RunContext,
    known: CachedHistory,
    { resumes, budget, entriesOf }: Reading,
  ): Promise<{ history: CachedHistory; entries: readonly HistoryEntry[] }> {
    let { messages, before, bytes } = known;
    let oldest = messages[0]?.id ?? null;
    let size = HISTORY_PAGE;
    for (;;) {
      const entries = entriesOf(messages);
      const found = { history: { messages, before, bytes }, entries };
      if (before === 0) return found;
      const room = MAX_HISTORY_MESSAGES - messages.length;
      const isFull = room <= 0 || characterCount(entries) > budget;
      if (isFull && (!resumes || messages.some(isQuestion))) return found;
      const limit = room > 0 ? Math.min(size, room) : size;
      const bounds = { before: oldest, limit, maxBytes: HISTORY_PAGE_BYTES };
      const page = await this.messages.history(organizationId, threadId, bounds);
      oldest = page.messages[0]?.id ?? oldest;
      const earlier = page.messages.filter((message) => message.runId !== runId);
      messages = [...earlier, ...messages];
      bytes += estimateBytes(earlier);
      if (!page.hasMore) before = 0;
      else if (before !== null) before -= page.messages.length;
      size *= 2;
    }
  }

  private async counted(
    { organizationId, threadId }: RunContext,
    history: CachedHistory,
  ): Promise<CachedHistory & { before: number }> {
    const [first] = history.messages;
    const before = history.before ?? (first ? await this.messages.countBefore(organizationId, threadId, first.id) : 0);
    return { ...history, before };
  }
}

function planReading({ agent, userMessage, decisions }: RunContext): Reading {
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
function exchangeStarts(messages: readonly HistoryMessage[]): number[] {
  const isBlocked = blockedAmong(messages);
  return messages.flatMap((message, index) => (isQuestion(message) && !isBlocked(message) ? [index] : []));
}

/** How many exchanges lie within this share of the newest `MAX_HISTORY_MESSAGES`. */
function exchangesWithin(messages: readonly HistoryMessage[], share: number): number {
  return exchangeStarts(messages).filter((start) => messages.length - start <= MAX_HISTORY_MESSAGES * share).length;
}

/**
 * How many of the newest exchanges to keep, from `least` to `most`, so that the runs after this one begin with the same
 * exchange. Depends only on what is stored, so every process keeps the same ones.
 */
function steadyExchanges(history: CachedHistory & { readonly before: number }, most: number, least: number): number {
  const { messages, before } = history;
  const position = steadyPosition(
    before + exchangeStart(messages, most),
    before + exchangeStart(messages, Math.min(least, most)),
  );
  return exchangeStarts(messages).filter((start) => before + start >= position).length;
}

/** The index at which the newest `exchanges` begin. */
function exchangeStart(messages: readonly HistoryMessage[], exchanges: number): number {
  const questions = exchangeStarts(messages);
  return exchanges === 0 ? messages.length : (questions[questions.length - exchanges] ?? 0);
}

/** Drops messages that the next run will not use: it needs one exchange more than fits. */
function shortened(history: CachedHistory & { readonly before: number }, kept: number): CachedHistory {
  const { messages, before, bytes } = history;
  const start = exchangeStart(messages, kept + 1);
  if (start === 0) return history;
  return {
    messages: messages.slice(start),
    before: before + start,
    bytes: bytes - estimateBytes(messages.slice(0, start)),
  };
}

function isQuestion({ role }: HistoryMessage): boolean {
  return role === 'user';
}
