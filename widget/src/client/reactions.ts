import { ChatError, readError } from './chat-error.js';
import type { Conversation } from './conversation.js';
import type { ChatOptions, ReactionRequest } from './options.js';
import type { Seams } from './seams.js';

/** Sends a rating to the customer's server in session mode, because a session pass cannot store it, else to the service. */
export async function sendReaction(
  options: ChatOptions,
  conversation: Conversation,
  { messageId, reaction }: Pick<ReactionRequest, 'messageId' | 'reaction'>,
  seams: Seams,
  signal: AbortSignal,
): Promise<void> {
  if (options.mode !== 'session') {
    await conversation.react(messageId, reaction, signal);
    return;
  }
  const request = {
    sessionId: conversation.sessionId ?? '',
    threadId: conversation.threadId ?? '',
    messageId,
    reaction,
  };
  if (typeof options.reactions === 'function') await options.reactions(request);
  else if (options.reactions !== undefined) await post(options.reactions, request, seams, signal);
}

async function post(endpoint: string, request: ReactionRequest, seams: Seams, signal: AbortSignal): Promise<void> {
  const response = await seams.fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
    credentials: 'same-origin',
    signal,
  });
  if (response.ok) return;
  const { message } = await readError(response);
  throw new ChatError('reaction', message ?? 'The rating could not be stored.', { status: response.status });
}
