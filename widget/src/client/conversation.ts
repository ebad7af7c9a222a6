import { type Authority, fixedAuthority, SessionAuthority } from './authority.js';
import { ChatError } from './chat-error.js';
import { ConversationMemory, type Remembered } from './memory.js';
import type { ChatOptions } from './options.js';
import type { Seams } from './seams.js';
import { ServiceRequests } from './service-requests.js';
import type { ReactionKind } from './options.js';
import type { UploadedFile, UploadOptions } from './chat-state.js';
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
  /** What the next `begin` resumes in place of the conversation that the tab remembers. */
  private opened: Remembered | null = null;
  /** The visitor wants a new conversation. */
  private isWanted = false;

  constructor(options: ChatOptions, seams: Seams, onWait: (until: number | null) => void) {
    this.options = options;
    this.memory = new ConversationMemory(options, seams);
    this.session =
      options.mode === 'session'
        ? new SessionAuthority(options, this.memory, seams, (...told) => this.requests.wait(...told))
        : null;
    const authority: Authority = this.session ?? fixedAuthority(options as Exclude<ChatOptions, { mode: 'session' }>);
    this.requests = new ServiceRequests(options.baseUrl ?? seams.location?.origin ?? '', authority, seams, onWait);
  }

  /**
   * Resumes the opened conversation, or the one that the tab remembers.
   * @returns whether it may have messages, and whether it is the one that the tab remembers
   */
  async begin(signal: AbortSignal): Promise<{ readonly hasMessages: boolean; readonly isRemembered: boolean }> {
    const { opened } = this;
    const remembered = opened ?? this.memory.read();
    const isRemembered = opened === null && remembered !== null;
    if (this.session) {
      const hasMessages = await this.session.begin(remembered, this.isWanted, signal);
      this.isWanted = false;
      this.opened = null;
      return { hasMessages, isRemembered };
    }
    this.opened = null;
    this.own = remembered;
    if (remembered) this.memory.write(remembered);
    return { hasMessages: remembered !== null, isRemembered };
  }

  /** Makes the next `begin` resume this conversation. */
  open(threadId: string): void {
    this.forget();
    this.opened = { threadId };
  }

  /** Makes the next `begin` start a new conversation, also where the customer's server would continue another. */
  startNew(): void {
    this.forget();
    this.isWanted = true;
  }

  /** Makes the next `begin` start a new conversation. */
  forget(): void {
    this.isWanted = false;
    this.memory.forget();
    this.session?.forget();
    this.own = null;
    this.opened = null;
  }

  /** Null before the first credentials, and before the first message of a conversation made by the page. */
  get threadId(): string | null {
    return this.current?.threadId ?? null;
  }

  get sessionId(): string | undefined {
    return this.session?.current?.sessionId;
  }

  /** The run that was active, or waited for approval, when the visitor left the page. */
  get runId(): string | undefined {
    return this.current?.runId;
  }

  private get current(): Pick<Remembered, 'threadId' | 'runId'> | null {
    return this.session ? this.session.current : this.own;
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

  async react(
    messageId: string,
    body: { readonly reaction: ReactionKind | null; readonly comment?: string },
    signal: AbortSignal,
  ): Promise<void> {
    const path = `/v1/threads/${encodeURIComponent(this.threadId ?? '')}/messages/${encodeURIComponent(messageId)}/reaction`;
    await this.requests.send({ method: 'PUT', path, body, signal, repeatable: true });
  }

  /** @throws ChatError also with the codes `file_too_large` and `file_type` */
  async upload(file: File, { onProgress }: UploadOptions, signal: AbortSignal): Promise<UploadedFile> {
    const form = new FormData();
    form.set('assistant_id', this.assistantId);
    form.set('file', file);
    try {
      return await this.requests.json({
        method: 'POST',
        path: '/v1/files/upload',
        form,
        signal,
        quiet: true,
        ...(onProgress ? { onProgress } : {}),
      });
    } catch (error) {
      if (!(error instanceof ChatError)) throw error;
      const { message, status } = error;
      if (status === 413) throw new ChatError('file_too_large', message, { status });
      if (status === 400 || status === 415) throw new ChatError('file_type', message, { status });
      throw error;
    }
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
    if (this.session) throw new Error('The session has not started');
    const body = { assistant_id: this.assistantId };
    const { id } = await this.requests.json<{ id: string }>({ method: 'POST', path: '/v1/threads', body, signal });
    this.own = { threadId: id };
    this.memory.write(this.own);
    return id;
  }
}
