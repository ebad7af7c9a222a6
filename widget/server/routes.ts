import { Conversations } from './conversations.js';
import type { Settings, Visitor } from './options.js';
import { Ownership } from './ownership.js';
import { Relay } from './relay.js';
import { Service } from './service.js';
import { Sessions } from './sessions.js';

/** A request of a known visitor. */
export interface Call {
  readonly request: Request;
  readonly visitor: Visitor;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Below `basePath`. Its groups are ids. */
  readonly path: RegExp;
  readonly answer: (call: Call, ...ids: string[]) => Promise<Response>;
}

const ID = '([\\da-fA-F]{8}-[\\da-fA-F]{4}-[\\da-fA-F]{4}-[\\da-fA-F]{4}-[\\da-fA-F]{12})';

/** All that there is. */
export function routesOf(settings: Settings): readonly Route[] {
  const service = new Service(settings);
  const ownership = new Ownership(settings, service);
  const conversations = new Conversations(settings, ownership);
  const sessions = new Sessions(settings, service, ownership, conversations);
  const relay = new Relay(settings, service, ownership, conversations);
  const history: Route = { method: 'GET', path: exactly('/conversations'), answer: (call) => conversations.list(call) };
  return [
    { method: 'POST', path: exactly('/session'), answer: (call) => sessions.credentials(call) },
    { method: 'POST', path: exactly('/reaction'), answer: (call) => sessions.react(call) },
    ...(settings.conversations ? [history] : []),
    { method: 'POST', path: exactly('/v1/threads'), answer: (call) => relay.openThread(call) },
    {
      method: 'GET',
      path: exactly(`/v1/threads/${ID}/messages`),
      answer: (call, threadId = '') => relay.messages(call, threadId),
    },
    {
      method: 'POST',
      path: exactly(`/v1/threads/${ID}/runs/stream`),
      answer: (call, threadId = '') => relay.run(call, threadId),
    },
    {
      method: 'PUT',
      path: exactly(`/v1/threads/${ID}/messages/${ID}/reaction`),
      answer: (call, threadId = '', messageId = '') => relay.react(call, threadId, messageId),
    },
    { method: 'POST', path: exactly('/v1/files/upload'), answer: (call) => relay.upload(call) },
    { method: 'POST', path: exactly('/v1/chat/suggestions'), answer: (call) => relay.suggestions(call) },
  ];
}

/** Paths are compared as they are, without decoding. */
function exactly(path: string): RegExp {
  return new RegExp(`^${path}$`);
}
