import { ChatError, readError } from './chat-error.js';
import type { Conversation } from './conversation.js';
import { askEndpoint, inTime } from './customer-endpoint.js';
import type { ChatOptions, ReactionRequest } from './options.js';
import type { Seams } from './seams.js';

/** Characters of a comment; the rest is cut off. */
const MAX_COMMENT = 2_000;

/** Sends a rating to the customer's server in session mode, because a session pass cannot store it, else to the service. */
export async function sendReaction(
  options: ChatOptions,
  conversation: Conversation,
  rating: Pick<ReactionRequest, 'messageId' | 'reaction' | 'comment'>,
  seams: Seams,
  signal: AbortSignal,
): Promise<void> {
  const { messageId, reaction } = rating;
  const comment = [...(rating.comment ?? '')].slice(0, MAX_COMMENT).join('').trim();
  const said = { reaction, ...(comment === '' ? {} : { comment }) };
  if (options.mode !== 'session') {
    await conversation.react(messageId, said, signal);
    return;
  }
  const { reactions } = options;
  const { sessionId = '', threadId } = conversation;
  const request = { sessionId, threadId: threadId ?? '', messageId, ...said };
  if (typeof reactions === 'function') await inTime(() => reactions(request), seams, signal);
  else if (reactions !== undefined) await inTime((inside) => post(reactions, request, seams, inside), seams, signal);
}

async function post(endpoint: string, request: ReactionRequest, seams: Seams, signal: AbortSignal): Promise<void> {
  const response = await askEndpoint(endpoint, { method: 'POST', body: request }, seams, signal);
  if (response.ok) return;
  const { message } = await readError(response);
  throw new ChatError('reaction', message ?? 'The rating could not be stored.', { status: response.status });
}
