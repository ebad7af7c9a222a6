import type { AssistantMessage, ModelMessage, ModelToolCall } from '../../models/index.js';

/**
 * The messages for a request that does not offer all tools of the caller that they have calls of: providers refuse calls
 * of tools that a request does not list, so the model reads these calls, and their results, as text.
 * @param isOffered whether the request offers the caller's tool
 */
export function withoutStaleCalls(
  messages: readonly ModelMessage[],
  isOffered: (name: string) => boolean,
): readonly ModelMessage[] {
  const isStale = ({ name, byCaller }: ModelToolCall): boolean => byCaller === true && !isOffered(name);
  // Fast path: most runs have none.
  if (!messages.some((entry) => entry.role === 'assistant' && entry.toolCalls.some(isStale))) return messages;
  const entries: ModelMessage[] = [];
  /** They come after the results of the answer's other calls, which must follow it directly. */
  const results: ModelMessage[] = [];
  /** Of the last answer: ids are unique only within one. */
  let stale: ReadonlySet<string> = new Set();
  for (const entry of messages) {
    if (entry.role === 'assistant') stale = new Set(entry.toolCalls.filter(isStale).map(({ id }) => id));
    if (entry.role === 'tool' && stale.has(entry.toolCallId)) {
      results.push({ role: 'user', text: resultText(entry), guidance: true });
      continue;
    }
    if (entry.role !== 'tool') entries.push(...results.splice(0));
    entries.push(entry.role === 'assistant' ? withCallsAsText(entry, stale) : entry);
  }
  return [...entries, ...results];
}

/** Without the provider's state, which has the calls. */
function withCallsAsText(
  { text, toolCalls, ...entry }: AssistantMessage,
  stale: ReadonlySet<string>,
): AssistantMessage {
  const told = toolCalls.filter(({ id }) => stale.has(id));
  if (told.length === 0) return { ...entry, text, toolCalls };
  const calls = told.map(({ name, input }) => `[Called the tool ${name} of the application: ${JSON.stringify(input)}]`);
  return {
    role: 'assistant',
    text: [text, ...calls].filter((part) => part !== '').join('\n\n'),
    toolCalls: toolCalls.filter(({ id }) => !stale.has(id)),
  };
}

function resultText({ toolName, output, isError }: Extract<ModelMessage, { role: 'tool' }>): string {
  return `[${isError ? 'The error' : 'The result'} of the tool ${toolName} of the application: ${output}]`;
}
