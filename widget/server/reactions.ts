import { type Fields, optional, readText } from './fields.js';
import { invalid } from './problems.js';
import type { ServiceCall } from './service.js';

/** @throws Refusal */
export function readReaction({ reaction, comment }: Fields): object {
  if (reaction !== null && reaction !== 'thumbs_up' && reaction !== 'thumbs_down') {
    throw invalid('reaction must be thumbs_up, thumbs_down or null.');
  }
  return { reaction, ...optional('comment', comment, readText) };
}

/** @param threadId a conversation of the visitor */
export function reactionCall(threadId: string, messageId: string, body: object, signal: AbortSignal): ServiceCall {
  const path = `/v1/threads/${threadId}/messages/${messageId}/reaction`;
  return { method: 'PUT', path, body, signal, relays: [400, 404] };
}
