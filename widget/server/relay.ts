import type { Conversations } from './conversations.js';
import { readList, readRecord, readText } from './fields.js';
import type { Settings, Visitor } from './options.js';
import { type Ownership, OWNER } from './ownership.js';
import { badGateway, invalid, RETRY_SECONDS, unavailable, WidgetServerError } from './problems.js';
import { reactionCall, readReaction } from './reactions.js';
import { readFile, readJson } from './request-body.js';
import type { Call } from './routes.js';
import { runBody } from './run-body.js';
import type { Service, ServiceCall } from './service.js';

/** Of a request for suggestions, as the service reads no more. */
const MAX_SUGGESTED_FROM = 20;
const MAX_SAID = 1_000;
/** Characters of one of its messages; the end is what matters. */
const MAX_SUGGESTED_TEXT = 8_000;
/** Of a surrogate pair that was cut in two; the service refuses a lone half. */
const LATTER_HALF = /^[\udc00-\udfff]/;
/** Visible ASCII, as the service takes it. */
const IDEMPOTENCY_KEY = /^[!-~]{1,200}$/;

/** The routes of the widget's proxy mode. Every request is built anew from the fields that a visitor may decide. */
export class Relay {
  private readonly settings: Settings;
  private readonly service: Service;
  private readonly ownership: Ownership;
  private readonly conversations: Conversations;
  /** Those whose bytes are in memory. */
  private uploads = 0;

  constructor(settings: Settings, service: Service, ownership: Ownership, conversations: Conversations) {
    this.settings = settings;
    this.service = service;
    this.ownership = ownership;
    this.conversations = conversations;
  }

  /** `POST /v1/threads` */
  async openThread({ request, visitor }: Call): Promise<Response> {
    await readJson(request, this.settings.limits);
    const metadata = { [OWNER]: await this.ownership.digestOf(visitor) };
    const { id } = await this.service.json({
      ...{ method: 'POST', path: '/v1/threads', signal: request.signal, relays: [422] },
      body: { assistant_id: this.settings.assistantId, metadata },
      headers: await this.idempotency(request, visitor),
    });
    if (typeof id !== 'string') throw this.incomplete('thread');
    // A repeated idempotency key gets the thread of the first request.
    const isNew = !this.ownership.remembers(visitor, id);
    this.ownership.remember(visitor, id);
    if (isNew) await this.conversations.add(visitor, id);
    return Response.json({ id });
  }

  /** `GET /v1/threads/{threadId}/messages` */
  async messages({ request: { signal }, visitor }: Call, threadId: string): Promise<Response> {
    await this.ownership.require(visitor, threadId, signal);
    const path = `/v1/threads/${threadId}/messages`;
    return this.service.relay({ method: 'GET', path, signal, relays: [404] }, 'application/json');
  }

  /** `POST /v1/threads/{threadId}/runs/stream` */
  async run({ request, visitor }: Call, threadId: string): Promise<Response> {
    const given = await readJson(request, this.settings.limits);
    const body = await runBody(given, visitor, (url) => this.uploaded(visitor, url));
    await this.ownership.require(visitor, threadId, request.signal);
    const call: ServiceCall = {
      ...{ method: 'POST', path: `/v1/threads/${threadId}/runs/stream`, body, signal: request.signal },
      headers: await this.idempotency(request, visitor),
      relays: [400, 404, 409, 410, 413, 422],
    };
    return this.service.relay(call, 'text/event-stream');
  }

  /** `PUT /v1/threads/{threadId}/messages/{messageId}/reaction` */
  async react({ request, visitor }: Call, threadId: string, messageId: string): Promise<Response> {
    const reaction = readReaction(await readJson(request, this.settings.limits));
    await this.ownership.require(visitor, threadId, request.signal);
    return this.service.relay(reactionCall(threadId, messageId, reaction, request.signal), 'application/json');
  }

  /** `POST /v1/files/upload` */
  async upload(call: Call): Promise<Response> {
    if (this.uploads >= this.settings.limits.concurrentUploads)
      throw unavailable(503, 'too_many_uploads', RETRY_SECONDS);
    this.uploads += 1;
    try {
      return await this.uploadFile(call);
    } finally {
      this.uploads -= 1;
    }
  }

  private async uploadFile({ request, visitor }: Call): Promise<Response> {
    const file = await readFile(request, this.settings.limits);
    const form = new FormData();
    form.set('assistant_id', this.settings.assistantId);
    form.set('file', file, file.name);
    const path = '/v1/files/upload';
    const call = { method: 'POST', path, form, signal: request.signal, relays: [400, 413, 415, 422] } as const;
    const { id, name, url, contentType, size } = await this.service.json(call);
    if (typeof url !== 'string') throw this.incomplete('file');
    const proof = await this.ownership.prove('file', visitor, url);
    return Response.json({ id, name, url: `${url}#${proof}`, contentType, size });
  }

  /** `POST /v1/chat/suggestions` */
  async suggestions({ request }: Call): Promise<Response> {
    const { messages } = await readJson(request, this.settings.limits);
    const said = readList(messages, 'messages', MAX_SAID).slice(-MAX_SUGGESTED_FROM).map(suggestedFrom);
    const body = { assistant_id: this.settings.assistantId, messages: said };
    const path = '/v1/chat/suggestions';
    const call = { method: 'POST', path, body, signal: request.signal, relays: [400, 422] } as const;
    return this.service.relay(call, 'application/json');
  }

  /** Only own uploads: otherwise visitors would decide what URLs the service fetches. */
  private async uploaded(visitor: Visitor, url: string): Promise<string> {
    const [uploaded = '', proof = ''] = url.split('#');
    if (await this.ownership.isProven('file', visitor, uploaded, proof)) return uploaded;
    throw invalid('message.attachments.url must be the url of a file that this visitor has uploaded.');
  }

  /** Each visitor has keys of their own, because those of the service belong to the whole organization. */
  private async idempotency(request: Request, visitor: Visitor): Promise<Readonly<Record<string, string>>> {
    const key = request.headers.get('idempotency-key');
    if (key === null) return {};
    if (!IDEMPOTENCY_KEY.test(key)) throw invalid('idempotency-key must be 1 to 200 visible ASCII characters.');
    const digest = await this.ownership.digestOf(visitor);
    return { 'idempotency-key': `${digest}:${key}` };
  }

  private incomplete(what: string): Error {
    this.settings.report(new WidgetServerError(`The service sent no ${what}`));
    return badGateway();
  }
}

function suggestedFrom(message: unknown): object {
  const { role, content } = readRecord(message, 'messages');
  if (role !== 'user' && role !== 'assistant') throw invalid('messages.role must be user or assistant.');
  return { role, content: readText(content, 'messages.content').slice(-MAX_SUGGESTED_TEXT).replace(LATTER_HALF, '') };
}
