import type { MemoryReservation } from '../../files/index.js';
import type { ModelMessage } from '../../models/index.js';
import { leftOutNote } from '../domain/attachment.js';
import { inCallOrder, type ResultEntry, withNotes, withoutState } from '../domain/message.js';
import { RESULT_SHARE, RESULTS_SHARE, SMALL_RESULTS_SHARE } from './limits.js';
import { fitIntoRequest, giveBack, mediaOf, resultsToKeep, withoutMedia, withReservedMedia } from './result-media.js';
import { cutOutput, resultTokens, shortenResults } from './shorten-results.js';

/** The conversation that a run under way gives to the model, and what it adds to it. */
export class RunConversation {
  history: readonly (readonly ModelMessage[])[] = [];
  /** Earlier messages that the model is not given because they do not fit. */
  omittedMessages = 0;
  /** What the run begins with: the user's message, or the exchange that it goes on with. Stored by then. */
  current: readonly ModelMessage[] = [];
  /** What the run adds. */
  transcript: ModelMessage[] = [];
  /** Once the run is over: what the run that goes on with its calls gets besides the transcript. */
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
    const withheld = this.history.map((exchange) => exchange.map(withoutFiles));
    const hasFiles = this.history.flat().some((entry) => entry.role === 'user' && entry.attachments);
    this.history = withheld;
    return hasFiles;
  }

  /** Adds the result of a call: its output, shortened to the share of one result, and as much of its media as there is memory for. */
  keepResult(result: ResultEntry): void {
    const output = cutOutput(result.output, this.contextTokens * RESULT_SHARE);
    this.transcript.push(withReservedMedia({ ...result, output }, this.memory));
  }

  /** The exchange that the run goes on with, and the results of it that were kept whole for this. */
  goOnWith(messages: readonly ModelMessage[], whole: readonly ResultEntry[]): void {
    const byCall = new Map(whole.map((result) => [result.toolCallId, result]));
    this.current = messages.map((entry) => {
      const result = entry.role === 'tool' ? byCall.get(entry.toolCallId) : undefined;
      return result ? withReservedMedia(result, this.memory) : entry;
    });
  }

  /**
   * Leaves out the oldest files for which one request has no room beside the newer media of tools, and shortens the
   * results of tools to the share that they may take together.
   */
  makeRoom(): void {
    const { history, entries } = fitIntoRequest(this.history, this.exchange);
    this.history = history;
    this.replaceEntries(shortenResults(entries, this.contextTokens * RESULTS_SHARE));
  }

  /**
   * Shortens the conversation by one step, after the provider refused a request as too long. The order keeps what the present
   * exchange needs for as long as possible; its question and the answers of the model always stay.
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
   * Puts notes in place of what tools have shown since the model's last answer, or else at all.
   * @returns false when there is nothing
   */
  stripMedia(): boolean {
    const entries = this.exchange;
    const newest = entries.findLastIndex(({ role }) => role === 'assistant');
    const from = mediaOf(entries.slice(newest + 1)).length > 0 ? newest + 1 : 0;
    const stripped = entries.map((entry, index) => (index < from ? entry : withoutMedia(entry, 'refused')));
    return this.replaceEntries(stripped);
  }

  /**
   * No model is called any more.
   * @param goesOn another run may go on with this one's calls
   */
  end(goesOn: boolean): void {
    this.keptResults = goesOn ? resultsToKeep(this.exchange) : [];
    this.transcript = this.transcript.map((entry) => withoutMedia(entry, 'left_out'));
    this.history = [];
    this.current = [];
  }

  /**
   * What the run adds, as its message keeps it: empty where the text says it all. What binds to one call of a provider
   * is kept only for the run that goes on with this one. What tools have shown is never kept here: it would be read
   * with every later run.
   */
  stored(goesOn: boolean): ModelMessage[] {
    const usedTools = this.transcript.some(
      (entry) => entry.role === 'tool' || (entry.role === 'assistant' && entry.toolCalls.length > 0),
    );
    if (!usedTools) return [];
    const entries = this.transcript.map((entry) => withoutMedia(entry, 'left_out'));
    return goesOn ? entries : entries.map(withoutState);
  }

  /** The entries since the user's last message, with that message. */
  private get exchange(): readonly ModelMessage[] {
    return [...this.current, ...this.transcript];
  }

  /** Leaves out the older half of the earlier conversation. @returns false when there is none left */
  private dropOlderHalf(): boolean {
    if (this.history.length === 0) return false;
    const forgotten = this.history.slice(0, Math.ceil(this.history.length / 2));
    this.history = this.history.slice(forgotten.length);
    // A stored reply may be several entries of the exchange; what the user sees is a question and a reply.
    this.omittedMessages += forgotten.reduce((sum, exchange) => sum + Math.min(exchange.length, 2), 0);
    return true;
  }

  /** @returns false when the results take no more than `least` tokens, or cannot be shortened further */
  private halveResults(least: number): boolean {
    const entries = this.exchange;
    const tokens = resultTokens(entries);
    if (tokens <= least) return false;
    const shortened = shortenResults(entries, Math.max(least, tokens / 2));
    this.replaceEntries(shortened);
    return shortened.some((entry, index) => entry !== entries[index]);
  }

  /** @returns whether media went */
  private replaceEntries(entries: readonly ModelMessage[]): boolean {
    const kept = new Set(mediaOf(entries));
    const gone = mediaOf(this.exchange).filter((medium) => !kept.has(medium));
    giveBack(gone, this.memory);
    const current = this.current.length;
    this.current = entries.slice(0, current);
    this.transcript = entries.slice(current);
    return gone.length > 0;
  }
}

function withoutFiles(entry: ModelMessage): ModelMessage {
  if (entry.role !== 'user' || !entry.attachments) return entry;
  const notes = entry.attachments.map(({ name, mediaType }) => leftOutNote({ name, contentType: mediaType }));
  return { role: 'user', text: withNotes(entry.text, notes) };
}
