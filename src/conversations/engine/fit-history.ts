import type { ModelMessage } from '../../models/index.js';

/** What was said between one message of the user and the next; a tool call and its result are never parted. */
export type Exchange = readonly ModelMessage[];

/** The conversation in exchanges. What stands before the first message of the user (a cut-off answer) is left out. */
export function exchangesOf(messages: readonly ModelMessage[]): Exchange[] {
  const exchanges: ModelMessage[][] = [];
  for (const message of messages) {
    if (message.role === 'user') exchanges.push([message]);
    else exchanges.at(-1)?.push(message);
  }
  return exchanges;
}

/** The newest exchanges that fit into so many characters; the oldest go first. */
export function newestThatFit(exchanges: readonly Exchange[], characters: number): Exchange[] {
  const kept: Exchange[] = [];
  let left = characters;
  for (const exchange of [...exchanges].reverse()) {
    left -= sizeOf(exchange);
    if (left < 0) break;
    kept.unshift(exchange);
  }
  return kept;
}

/** Characters that a model reads of it, roughly: names and marks of the protocol are not counted. */
export function sizeOf(messages: readonly ModelMessage[]): number {
  return messages.reduce((sum, message) => sum + charactersOf(message), 0);
}

function charactersOf(message: ModelMessage): number {
  switch (message.role) {
    case 'user':
      return message.text.length;
    case 'assistant':
      return message.text.length + (message.toolCalls.length === 0 ? 0 : JSON.stringify(message.toolCalls).length);
    case 'tool':
      return message.output.length;
    default:
      return message satisfies never;
  }
}
