import type { MemoryReservation } from '../../files/index.js';
import type { ModelMessage } from '../../models/index.js';
import { attachmentNote } from '../domain/attachment.js';
import { inCallOrder, type ResultEntry, withNotes, withoutState } from '../domain/message.js';
import { RESULT_SHARE, RESULTS_SHARE, SHARE_AFTER_CUT, SMALL_RESULTS_SHARE } from './limits.js';
import {
  fitIntoRequest,
  releaseMedia,
  mediaOf,
  resultsToKeep,
  withoutMedia,
  withReservedMedia,
} from './result-media.js';
import { cutOutput, resultTokens, shortenResults } from './shorten-results.js';
import { steadyPosition } from './truncate-history.js';

/** The conversation of a run under way: what the model gets, and what the run adds. */
export class RunConversation {
  history: readonly (readonly ModelMessage[])[] = [];
  /** Earlier messages that the model does not get because they do not fit. */
  omittedMessages = 0;
  /** What the run begins with: the user's message, or the exchange that it resumes. Both are stored. */
  current: readonly ModelMessage[] = [];
  /** The entries that the run adds. */
  transcript: ModelMessage[] = [];
  /** Set by `end`: what the run that resumes this one gets besides the transcript. */
  keptResults: readonly ResultEntry[] = [];

  /** @param contextTokens the context window of the model */
  constructor(
    private readonly memory: MemoryReservation,
    private readonly contextTokens: number,
  ) {}

  get messages(): ModelMessage[] {
    return [...this.history.flat(), ...inCallOrder(this.exchange)];
  }

  /** Puts notes in place of the files of earlier messages. @returns false when there are none */
  stripOlderAttachments(): boolean {
    const withoutAttachments = this.history.map((exchange) => exchange.map(withoutFiles));
    const hasFiles = this.history.flat().some((entry) => entry.role === 'user' && entry.attachments);
    this.history = withoutAttachments;
    return hasFiles;
  }

  /**
   * Adds the result of a call, with its output shortened to the share of one result and the media for which there is
   * memory.
   */
  keepResult(result: ResultEntry): void {
    const output = cutOutput(result.output, this.contextTokens * RESULT_SHARE);
    this.transcript.push(withReservedMedia({ ...result, output }, this.memory));
  }

  /** Sets the exchange that the run resumes. @param keptResults its results with media */
  resume(messages: readonly ModelMessage[], keptResults: readonly ResultEntry[]): void {
    const byCall = new Map(keptResults.map((result) => [result.toolCallId, result]));
    this.current = messages.map((entry) => {
      const result = entry.role === 'tool' ? byCall.get(entry.toolCallId) : undefined;
      return result ? withReservedMedia(result, this.memory) : entry;
    });
  }

  /**
   * Drops the oldest files when one request has no room for them beside newer media of tools, and shortens the results
   * of tools to their share of the context.
   */
  makeRoom(): void {
    const { history, entries } = fitIntoRequest(this.history, this.exchange);
    this.history = history;
    const share = this.contextTokens * RESULTS_SHARE;
    const isFull = resultTokens(entries) > share;
    this.replaceEntries(isFull ? shortenResults(entries, share * SHARE_AFTER_CUT) : entries);
  }

  /**
   * Shortens the conversation by one step, after the provider has refused a request as too long. What the current
   * exchange needs is shortened last; its question and the model's answers always stay.
   * @returns false when there is nothing left to shorten
   */
  shorten(): boolean {
    return (
      this.stripOlderAttachments() ||
      this.dropOlderHalf() ||
      this.halveResults(this.contextTokens * SMALL_RESULTS_SHARE) ||
      this.stripMedia() ||
      this.halveResults(0)
    );
  }

  /**
   * Puts notes in place of the media of results since the model's last answer; when there are none, of all results.
   * @returns false when there are none at all
   */
  stripMedia(): boolean {
    const entries = this.exchange;
    const newest = entries.findLastIndex(({ role }) => role === 'assistant');
    const from = mediaOf(entries.slice(newest + 1)).length > 0 ? newest + 1 : 0;
    const stripped = entries.map((entry, index) => (index < from ? entry : withoutMedia(entry, 'refused')));
    return this.replaceEntries(stripped);
  }

  /**
   * Call after the last request to the model. Frees the history.
   * @param isResumable another run may resume this one
   */
  end(isResumable: boolean): void {
    this.keptResults = isResumable ? resultsToKeep(this.exchange) : [];
    this.transcript = this.transcript.map((entry) => withoutMedia(entry, 'left_out'));
    this.history = [];
    this.current = [];
  }

  /**
   * The transcript that the run's message stores: empty when the message's text suffices. The provider's state is kept
   * only for a run that resumes this one. Media are never kept here, since every later run would read them.
   */
  stored(isResumable: boolean): ModelMessage[] {
    const usedTools = this.transcript.some(
      (entry) => entry.role === 'tool' || (entry.role === 'assistant' && entry.toolCalls.length > 0),
    );
    if (!usedTools) return [];
    const entries = this.transcript.map((entry) => withoutMedia(entry, 'left_out'));
    return isResumable ? entries : entries.map(withoutState);
  }

  /** The user's last message and the entries after it. */
  private get exchange(): readonly ModelMessage[] {
    return [...this.current, ...this.transcript];
  }

  /** @returns false when there is no history left */
  private dropOlderHalf(): boolean {
    if (this.history.length === 0) return false;
    const half = Math.ceil(this.history.length / 2);
    const dropped = this.history.slice(0, steadyPosition(half, Math.max(half, Math.floor(this.history.length * 0.75))));
    this.history = this.history.slice(dropped.length);
    // An exchange may have many entries, but counts as a question and a reply.
    this.omittedMessages += dropped.reduce((sum, exchange) => sum + Math.min(exchange.length, 2), 0);
    return true;
  }

  /** @returns false when the results have at most `least` tokens, or cannot be shortened further */
  private halveResults(least: number): boolean {
    const entries = this.exchange;
    const tokens = resultTokens(entries);
    if (tokens <= least) return false;
    const shortened = shortenResults(entries, Math.max(least, tokens / 2));
    this.replaceEntries(shortened);
    return shortened.some((entry, index) => entry !== entries[index]);
  }

  /** @returns whether media were removed */
  private replaceEntries(entries: readonly ModelMessage[]): boolean {
    const kept = new Set(mediaOf(entries));
    const removed = mediaOf(this.exchange).filter((medium) => !kept.has(medium));
    releaseMedia(removed, this.memory);
    const current = this.current.length;
    this.current = entries.slice(0, current);
    this.transcript = entries.slice(current);
    return removed.length > 0;
  }
}

function withoutFiles(entry: ModelMessage): ModelMessage {
  if (entry.role !== 'user' || !entry.attachments) return entry;
  const notes = entry.attachments.map(({ name, mediaType }) =>
    attachmentNote({ name, contentType: mediaType }, 'left_out'),
  );
  return { role: 'user', text: withNotes(entry.text, notes) };
}
