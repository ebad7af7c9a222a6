import { ChatError, readError } from './chat-error.js';
import { askEndpoint, inTime } from './customer-endpoint.js';
import type { ChatOptions, ConversationSummary } from './options.js';
import type { Seams } from './seams.js';

const MAX_CONVERSATIONS = 50;
const MAX_TITLE = 200;

/**
 * The visitor's conversations, as the customer's server lists them; the first 50.
 * @throws ChatError `conversations`; the signal's reason when it aborts
 */
export async function listConversations(
  { conversations }: ChatOptions,
  seams: Seams,
  signal: AbortSignal,
): Promise<readonly ConversationSummary[]> {
  if (conversations === undefined) return [];
  try {
    const listed =
      typeof conversations === 'function'
        ? await inTime(() => conversations(), seams, signal)
        : await inTime((inside) => read(conversations, seams, inside), seams, signal);
    return checked(listed);
  } catch (error) {
    signal.throwIfAborted();
    const message = error instanceof Error ? error.message : 'The conversations could not be loaded.';
    throw new ChatError('conversations', message, error instanceof ChatError ? { status: error.status } : {});
  }
}

async function read(endpoint: string, seams: Seams, signal: AbortSignal): Promise<unknown> {
  const response = await askEndpoint(endpoint, { method: 'GET' }, seams, signal);
  if (!response.ok) {
    const { message = `The page's server answered ${String(response.status)}.` } = await readError(response);
    throw new ChatError('conversations', message, { status: response.status });
  }
  const body: unknown = await response.json();
  return typeof body === 'object' && body !== null && 'conversations' in body ? body.conversations : undefined;
}

function checked(listed: unknown): ConversationSummary[] {
  if (!Array.isArray(listed)) throw new Error('The list of conversations must be an array.');
  return listed.slice(0, MAX_CONVERSATIONS).flatMap((each: unknown) => {
    if (typeof each !== 'object' || each === null) return [];
    const { threadId, title, updatedAt } = each as Partial<Record<keyof ConversationSummary, unknown>>;
    if (typeof threadId !== 'string' || threadId === '') return [];
    return [
      {
        threadId,
        title: typeof title === 'string' && title !== '' ? title.slice(0, MAX_TITLE) : null,
        updatedAt: typeof updatedAt === 'string' && !Number.isNaN(Date.parse(updatedAt)) ? updatedAt : null,
      },
    ];
  });
}
