import { beginsExchange, type HistoryEntry } from '../domain/message.js';
import { charactersOf as charactersOfFile, sum } from './choose-attachments.js';

/** A user's message and the entries up to the next one. A tool call and its result are in the same exchange. */
export type Exchange = readonly HistoryEntry[];

/**
 * Splits a conversation into exchanges. Entries before the first message of the user, such as a cut answer, are left
 * out.
 */
export function splitIntoExchanges(messages: readonly HistoryEntry[]): Exchange[] {
  const exchanges: HistoryEntry[][] = [];
  for (const message of messages) {
    if (beginsExchange(message)) exchanges.push([message]);
    else exchanges.at(-1)?.push(message);
  }
  return exchanges;
}

/**
 * Where to begin, among the positions from `first` to `last`: at the multiple of the largest power of two. The range
 * moves on with each message, but this position stays the same while it is in the range.
 */
export function steadyPosition(first: number, last: number): number {
  let step = 1;
  while (last - (last % (2 * step)) >= first && step <= last) step *= 2;
  return last - (last % step);
}

/** The newest exchanges that fit into so many characters. */
export function newestThatFit(exchanges: readonly Exchange[], characters: number): Exchange[] {
  let left = characters;
  const tooMuch = exchanges.findLastIndex((exchange) => {
    left -= characterCount(exchange);
    return left < 0;
  });
  return exchanges.slice(tooMuch + 1);
}

/** The approximate number of characters that a model reads: names and syntax of the protocol do not count. */
export function characterCount(messages: readonly HistoryEntry[]): number {
  let characters = 0;
  for (const message of messages) characters += charactersOf(message);
  return characters;
}

function charactersOf(message: HistoryEntry): number {
  switch (message.role) {
    case 'user':
      return message.text.length + (message.attached ? sum(message.attached.map(charactersOfFile)) : 0);
    case 'assistant':
      return message.text.length + (message.toolCalls.length === 0 ? 0 : JSON.stringify(message.toolCalls).length);
    case 'tool':
      return message.output.length;
    default:
      return message satisfies never;
  }
}
