import type { Conversations } from './conversations.js';
import { type Fields, isRecord, isUuid, readText, readUuid } from './fields.js';
import type { Settings, Visitor } from './options.js';
import type { Ownership } from './ownership.js';
import { badGateway, Refusal, WidgetServerError } from './problems.js';
import { readReaction, reactionCall } from './reactions.js';
import { readJson } from './request-body.js';
import type { Call } from './routes.js';
import type { Service } from './service.js';

/** Separates a token of the service from what the handler adds; no part contains it. */
const SEPARATOR = '.';
/** The session has ended, and the visitor may begin another one in the same conversation. */
const ENDED: ReadonlySet<string> = new Set([
  'resume_token_expired',
  'resume_token_invalid',
  'session_refresh_cap_exhausted',
]);

/** The endpoints of the widget's session mode. */
export class Sessions {
  private readonly settings: Settings;
  private readonly service: Service;
  private readonly ownership: Ownership;
  private readonly conversations: Conversations;

  constructor(settings: Settings, service: Service, ownership: Ownership, conversations: Conversations) {
    this.settings = settings;
    this.service = service;
    this.ownership = ownership;
    this.conversations = conversations;
  }

  /** `POST /session` @throws Refusal */
  async credentials({ request, visitor }: Call): Promise<Response> {
    const { resumeToken, threadId } = await readJson(request, this.settings.limits);
    const { signal } = request;
    if (resumeToken !== undefined) {
      return Response.json(await this.renew(visitor, readText(resumeToken, 'resumeToken'), signal));
    }
    // The tab may remember a conversation of another visitor, or one that no longer exists.
    const own = isUuid(threadId) && (await this.ownership.owns(visitor, threadId.toLowerCase(), signal));
    return Response.json(await this.mint(visitor, own ? threadId : null, signal));
  }

  /** `POST /reaction` @throws Refusal */
  async react({ request, visitor }: Call): Promise<Response> {
    const body = await readJson(request, this.settings.limits);
    const threadId = readUuid(body['threadId'], 'threadId');
    const messageId = readUuid(body['messageId'], 'messageId');
    const reaction = readReaction(body);
    const [, proof = ''] = readText(body['sessionId'], 'sessionId').split(SEPARATOR);
    if (!(await this.ownership.isProven('thread', visitor, threadId, proof))) {
      await this.ownership.require(visitor, threadId, request.signal);
    }
    const call = reactionCall(threadId, messageId, reaction, request.signal);
    const { body: message } = await this.service.relay(call, 'application/json');
    await message?.cancel();
    return new Response(null, { status: 204 });
  }

  private async mint(visitor: Visitor, threadId: string | null, signal: AbortSignal): Promise<object> {
    const body = { assistant_id: this.settings.assistantId, endUser: visitor.id };
    let minted: Fields;
    try {
      minted = await this.service.json({
        ...{ method: 'POST', path: '/v1/sessions', signal },
        body: threadId === null ? body : { ...body, thread_id: threadId },
        relays: threadId === null ? [] : [404],
      });
    } catch (error) {
      if (threadId === null || !(error instanceof Refusal) || error.status !== 404) throw error;
      return this.mint(visitor, null, signal);
    }
    const credentials = await this.flat(visitor, minted);
    if (threadId !== null) return credentials;
    await this.conversations.add(visitor, credentials.threadId);
    // The widget need not look for messages.
    return { ...credentials, isNew: true };
  }

  /** A refusal makes the widget ask for a new session. */
  private async renew(visitor: Visitor, given: string, signal: AbortSignal): Promise<object> {
    const [resumeToken = '', threadId = '', proof = ''] = given.split(SEPARATOR);
    if (!(await this.ownership.isProven('thread', visitor, threadId, proof))) {
      throw new Refusal(403, 'resume_token_invalid', 'The session belongs to another visitor.');
    }
    const body = { resumeToken, endUser: visitor.id };
    try {
      const call = { method: 'POST', path: '/v1/sessions/refresh', body, signal, relays: [400, 404] } as const;
      return await this.flat(visitor, await this.service.json(call));
    } catch (error) {
      if (error instanceof Refusal && ENDED.has(error.code)) return this.mint(visitor, threadId, signal);
      throw error;
    }
  }

  /** The form that the widget takes. Its session id and resume token carry a proof of the visitor's conversation. */
  private async flat(visitor: Visitor, { session, pass, resumeToken }: Fields): Promise<{ readonly threadId: string }> {
    const { id, thread_id: threadId } = isRecord(session) ? session : {};
    const { token, expiresInSeconds: expiresIn } = isRecord(pass) ? pass : {};
    if (typeof id !== 'string' || typeof threadId !== 'string') {
      this.settings.report(new WidgetServerError('The service sent no session'));
      throw badGateway();
    }
    const proof = await this.ownership.prove('thread', visitor, threadId);
    const credentials = { pass: token, threadId, sessionId: [id, proof].join(SEPARATOR), expiresIn };
    if (!isRecord(resumeToken)) return credentials;
    return Object.assign(credentials, { resumeToken: [resumeToken['token'], threadId, proof].join(SEPARATOR) });
  }
}
