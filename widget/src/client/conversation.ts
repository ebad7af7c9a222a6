import { type Authority, fixedAuthority, SessionAuthority } from './authority.js';
import { ConversationMemory } from './memory.js';
import type { ChatOptions } from './options.js';
import type { Seams } from './seams.js';
import { ServiceRequests } from './service-requests.js';
import type { UploadedFile } from './chat-state.js';
import type { WireMessageList } from './wire.js';

/** Number of last messages that a request for suggestions includes. */
const SUGGESTED_FROM = 10;

/** The identity of one conversation: of a session, or made by the page. */
export class Conversation {
  readonly requests: ServiceRequests;
  private readonly options: ChatOptions;
  private readonly memory: ConversationMemory;
  private readonly session: SessionAuthority | null;
  /** In proxy and direct mode. */
  private own: { readonly threadId: string; readonly runId?: string } | null = null;

  constructor(options: ChatOptions, seams: Seams, onWait: (until: number | null) => void) {
    this.options = options;
    this.memory = new ConversationMemory(options, seams);
    this.session = options.mode === 'session' ? new SessionAuthority(options, this.memory, seams) : null;
    const authority: Authority = this.session ?? fixedAuthority(options as Exclude<ChatOptions, { mode: 'session' }>);
    this.requests = new ServiceRequests(options.baseUrl ?? seams.location?.origin ?? '', authority, seams, onWait);
  }

  /** Resumes the conversation that the tab remembers. @returns whether it may have messages */
  async begin(signal: AbortSignal): Promise<boolean> {
    const remembered = this.memory.read();
    if (this.session) await this.session.begin(remembered, signal);
    else this.own = remembered;
    return remembered !== null;
  }

  /** Makes the next `begin` start a new conversation. */
  forget(): void {
    this.memory.forget();
    this.session?.forget();
    this.own = null;
  }

  /** Null before the first message of a conversation made by the page. */
  get threadId(): string | null {
    return this.session ? this.session.current.threadId : (this.own?.threadId ?? null);
  }

  get sessionId(): string | undefined {
    return this.session?.current.sessionId;
  }

  /** The run that was active, or waited for approval, when the visitor left the page. */
  get runId(): string | undefined {
    return this.session ? this.session.current.runId : this.own?.runId;
  }

  noteRun(runId: string | null): void {
    if (this.session) this.session.noteRun(runId);
    else if (this.own) {
      this.own = { threadId: this.own.threadId, ...(runId === null ? {} : { runId }) };
      this.memory.write(this.own);
    }
  }

  async runsPath(signal: AbortSignal): Promise<string> {
    return `/v1/threads/${encodeURIComponent(await this.requireThread(signal))}/runs`;
  }

  messages(signal: AbortSignal): Promise<WireMessageList> {
    const path = `/v1/threads/${encodeURIComponent(this.threadId ?? '')}/messages`;
    return this.requests.json({ method: 'GET', path, signal, repeatable: true });
  }

  async react(messageId: string, reaction: string | null, signal: AbortSignal): Promise<void> {
    const path = `/v1/threads/${encodeURIComponent(this.threadId ?? '')}/messages/${encodeURIComponent(messageId)}/reaction`;
    await this.requests.send({ method: 'PUT', path, body: { reaction }, signal, repeatable: true });
  }

  upload(file: File, signal: AbortSignal): Promise<UploadedFile> {
    const form = new FormData();
    form.set('assistant_id', this.assistantId);
    form.set('file', file);
    return this.requests.json({ method: 'POST', path: '/v1/files/upload', form, signal });
  }

  async suggestions(
    said: readonly { readonly role: string; readonly content: string }[],
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const messages = said.filter(({ content }) => content !== '').slice(-SUGGESTED_FROM);
    const body = { assistant_id: this.assistantId, messages };
    return (
      await this.requests.json<{ suggestions: readonly string[] }>({
        method: 'POST',
        path: '/v1/chat/suggestions',
        body,
        signal,
        background: true,
      })
    ).suggestions;
  }

  private get assistantId(): string {
    if (this.options.mode === 'session') throw new Error('A session has its agent from the customer’s server');
    return this.options.assistantId;
  }

  private async requireThread(signal: AbortSignal): Promise<string> {
    const known = this.threadId;
    if (known !== null) return known;
    const body = { assistant_id: this.assistantId };
    const { id } = await this.requests.json<{ id: string }>({ method: 'POST', path: '/v1/threads', body, signal });
    this.own = { threadId: id };
    this.memory.write(this.own);
    return id;
  }
}
