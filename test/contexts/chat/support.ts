import type { Answer, TestOrganization, TestService } from '../../support/harness.js';
import type { MessageView } from '../../support/talk.js';
import { readEvents } from '../../support/sse.js';
import { sentSystem } from '../../support/sent-system.js';

export interface CalledTool {
  readonly id: string;
  readonly type: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface Completion {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly thread_id: string;
  readonly choices: readonly {
    readonly index: number;
    readonly message: {
      readonly role: string;
      readonly content: string | null;
      readonly refusal: null;
      readonly tool_calls?: readonly CalledTool[];
    };
    readonly logprobs: null;
    readonly finish_reason: string;
  }[];
  readonly usage?: object;
}

export interface Chunk {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly thread_id: string;
  readonly choices: readonly {
    readonly index: number;
    readonly delta: {
      readonly role?: string;
      readonly content?: string;
      readonly refusal?: null;
      readonly tool_calls?: readonly (CalledTool & { readonly index: number })[];
    };
    readonly logprobs: null;
    readonly finish_reason: string | null;
  }[];
  readonly usage?: object | null;
  readonly error?: { readonly message: string; readonly type: string; readonly code: string };
}

export type Said = Readonly<Record<string, unknown>>;

export const user = (content: unknown): Said => ({ role: 'user', content });
export const assistant = (content: unknown): Said => ({ role: 'assistant', content });

/** An organization with one agent, and requests to the chat routes. */
export class Chat {
  private constructor(
    readonly service: TestService,
    readonly organization: TestOrganization,
    readonly agentId: string,
  ) {}

  static async start(service: TestService, agent: Readonly<Record<string, unknown>> = {}): Promise<Chat> {
    const organization = await service.organization();
    return new Chat(service, organization, await service.agent(organization.key, agent));
  }

  get key(): string {
    return this.organization.key;
  }

  complete<Body = Completion>(body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer<Body>> {
    return this.service.http<Body>('POST', '/v1/chat/completions', { key: this.key, body, headers });
  }

  /** As above, with `assistant_id`. */
  ask<Body = Completion>(messages: readonly Said[], more: object = {}): Promise<Answer<Body>> {
    return this.complete<Body>({ assistant_id: this.agentId, messages, ...more });
  }

  /** All data lines of a streamed completion. */
  async streamed(
    messages: readonly Said[],
    more: object = {},
  ): Promise<{ chunks: Chunk[]; end: string; headers: Headers }> {
    const body = { assistant_id: this.agentId, messages, stream: true, ...more };
    const response = await this.service.fetch('POST', '/v1/chat/completions', { key: this.key, body });
    if (response.status !== 200 || !response.body) throw new Error(`${response.status} ${await response.text()}`);
    const lines: string[] = [];
    for await (const { data } of readEvents(response.body)) lines.push(data);
    const end = lines.pop() ?? '';
    return { chunks: lines.map((line) => JSON.parse(line) as Chunk), end, headers: response.headers };
  }

  /** The chunks of a streamed completion as they arrive. */
  async *chunks(messages: readonly Said[]): AsyncGenerator<Chunk> {
    const body = { assistant_id: this.agentId, messages, stream: true };
    const response = await this.service.fetch('POST', '/v1/chat/completions', { key: this.key, body });
    if (response.status !== 200 || !response.body) throw new Error(`${response.status} ${await response.text()}`);
    for await (const { data } of readEvents(response.body)) if (data !== '[DONE]') yield JSON.parse(data) as Chunk;
  }

  get<Body = object>(path: string): Promise<Answer<Body>> {
    return this.service.http<Body>('GET', path, { key: this.key });
  }

  async messages(threadId: string): Promise<readonly MessageView[]> {
    return (await this.get<{ messages: MessageView[] }>(`/v1/threads/${threadId}/messages`)).body.messages;
  }

  /** The conversation as `role: content` lines. */
  async lines(threadId: string): Promise<string[]> {
    return (await this.messages(threadId)).map(({ role, content }) => `${role}: ${content}`);
  }

  async threads(): Promise<readonly { id: string; title: string | null }[]> {
    return (await this.get<{ threads: { id: string; title: string | null }[] }>('/v1/threads')).body.threads;
  }
}

export function textOf(chunks: readonly Chunk[]): string {
  return chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
}

/** The newest request to the model, in Anthropic's format. */
export function given(service: TestService): {
  system: string;
  messages: readonly { role: string; content: unknown }[];
} {
  const body = service.models.requests.at(-1)?.body;
  if (!body) throw new Error('The model was not asked');
  return { ...(body as unknown as ReturnType<typeof given>), system: sentSystem(body) };
}
