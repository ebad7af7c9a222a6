import type { Answer, StreamedEvent, TestOrganization, TestService } from './harness.js';
import { message } from './harness.js';

export interface ToolCallView {
  readonly id: string;
  readonly name: string;
  readonly input: object;
  readonly requestedInput?: object;
  readonly output?: string;
  readonly status: string;
}

export interface ComponentView {
  readonly id: string;
  readonly component: string;
  readonly props: object;
  readonly fallback: string;
}

export interface MessageView {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly status: string;
  readonly runId: string;
  readonly blocked?: boolean;
  readonly attachments: readonly { readonly name: string; readonly url: string; readonly contentType: string }[];
  readonly components: readonly ComponentView[];
  readonly toolCalls?: readonly ToolCallView[];
  readonly partOffsets?: readonly { readonly id: string; readonly offset: number }[];
}

export interface RunView {
  readonly id: string;
  readonly status: string;
  readonly usage: Readonly<Record<string, number | null>>;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export interface InterruptView {
  readonly id: string;
  readonly reason: string;
  readonly toolCallId: string;
  readonly metadata: { readonly tool: string; readonly input: object };
}

export interface RunResult {
  readonly run: RunView;
  readonly message: MessageView | null;
  readonly interrupts: readonly InterruptView[];
}

/** One entry of a run's `resume`. */
export interface ResumeEntry {
  readonly interruptId: string;
  readonly status: 'resolved' | 'cancelled';
  readonly payload?:
    | { readonly approved: boolean; readonly reason?: string; readonly input?: object }
    | { readonly result: string | object; readonly isError?: boolean };
}

export interface TraceView {
  readonly id: string;
  readonly status: string;
  readonly usage: Readonly<Record<string, number | null>>;
  readonly input: string;
  readonly steps: readonly {
    readonly type: string;
    readonly name: string;
    readonly input: unknown;
    readonly output: unknown;
    readonly error: string | null;
  }[];
}

/** A thread with its agent and organization, and the requests of a customer there. */
export class Talk {
  private constructor(
    private readonly service: TestService,
    readonly organization: TestOrganization,
    readonly agentId: string,
    readonly threadId: string,
  ) {}

  /** @param options of the organization, as on the command line */
  static async start(
    service: TestService,
    agent: Readonly<Record<string, unknown>> = {},
    ...options: string[]
  ): Promise<Talk> {
    const organization = await service.organization(...options);
    const agentId = await service.agent(organization.key, agent);
    return new Talk(service, organization, agentId, await service.thread(organization.key, agentId));
  }

  /** Another thread with the same agent. */
  async another(): Promise<Talk> {
    const threadId = await this.service.thread(this.key, this.agentId);
    return new Talk(this.service, this.organization, this.agentId, threadId);
  }

  /** A thread with another agent of the organization. */
  async withAnotherAgent(agent: Readonly<Record<string, unknown>> = {}): Promise<Talk> {
    const agentId = await this.service.agent(this.key, agent);
    return new Talk(this.service, this.organization, agentId, await this.service.thread(this.key, agentId));
  }

  /** The same conversation by way of another process. */
  on(service: TestService): Talk {
    return new Talk(service, this.organization, this.agentId, this.threadId);
  }

  get key(): string {
    return this.organization.key;
  }

  get path(): string {
    return `/v1/threads/${this.threadId}`;
  }

  run<Body = RunResult>(text: string, more: Readonly<Record<string, unknown>> = {}): Promise<Answer<Body>> {
    return this.service.http<Body>('POST', `${this.path}/runs`, { key: this.key, body: message(text, more) });
  }

  /** A run with any body. */
  post<Body = RunResult>(body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer<Body>> {
    return this.service.http<Body>('POST', `${this.path}/runs`, { key: this.key, body, headers });
  }

  /** Resumes a run that waits for approval. */
  resume<Body = RunResult>(...resume: ResumeEntry[]): Promise<Answer<Body>> {
    return this.post<Body>({ resume });
  }

  /** All events of a run with any body. */
  async streamedBody(body: object, headers: Readonly<Record<string, string>> = {}): Promise<StreamedEvent[]> {
    const events: StreamedEvent[] = [];
    const options = { key: this.key, body, headers };
    for await (const event of this.service.stream(`${this.path}/runs/stream`, options)) events.push(event);
    return events;
  }

  storedAs(runId: string): Promise<Answer<RunResult>> {
    return this.get<RunResult>(`${this.path}/runs/${runId}`);
  }

  /** The events as they come. */
  stream(text: string, more: Readonly<Record<string, unknown>> = {}, query = ''): AsyncGenerator<StreamedEvent> {
    return this.service.stream(`${this.path}/runs/stream${query}`, { key: this.key, body: message(text, more) });
  }

  /** All events, once the stream has ended. */
  async streamed(text: string, more: Readonly<Record<string, unknown>> = {}, query = ''): Promise<StreamedEvent[]> {
    const events: StreamedEvent[] = [];
    for await (const event of this.stream(text, more, query)) events.push(event);
    return events;
  }

  async messages(): Promise<readonly MessageView[]> {
    const { body } = await this.get<{ messages: MessageView[] }>(`${this.path}/messages`);
    return body.messages;
  }

  /** The conversation as `role: content` lines. */
  async lines(): Promise<string[]> {
    return (await this.messages()).map(({ role, content }) => `${role}: ${content}`);
  }

  /** The agent's newest trace. */
  async trace(): Promise<TraceView> {
    const { body } = await this.get<{ traces: { id: string }[] }>(`/v1/agents/${this.agentId}/traces`);
    return (await this.get<TraceView>(`/v1/agents/${this.agentId}/traces/${body.traces[0]?.id ?? ''}`)).body;
  }

  /** The newest run as it is stored. */
  async storedRun(): Promise<{ id: string; status: string; error: { code: string } | null } | undefined> {
    const [run] = await this.service.database.query<{ id: string; status: string; error: { code: string } | null }>(
      'select id, status, error from runs where thread_id = $1 order by id desc limit 1',
      [this.threadId],
    );
    return run;
  }

  /** All that is stored of the conversation. */
  storedRows(): Promise<unknown[]> {
    return this.service.database.query(
      `select to_jsonb(messages) as row from messages where thread_id = $1
       union all select to_jsonb(runs) from runs where thread_id = $1
       union all select to_jsonb(traces) from traces where thread_id = $1`,
      [this.threadId],
    );
  }

  private get<Body>(path: string): Promise<Answer<Body>> {
    return this.service.http<Body>('GET', path, { key: this.key });
  }
}

export function typesOf(events: readonly StreamedEvent[]): string[] {
  return events.map(({ event }) => event.type);
}

/** All text of the stream, in order. */
export function textOf(events: readonly StreamedEvent[]): string {
  return events.map(({ event }) => (event.type === 'TEXT_MESSAGE_CONTENT' ? String(event['delta']) : '')).join('');
}

/** The last event. */
export function endOf(events: readonly StreamedEvent[]): StreamedEvent['event'] {
  const end = events.at(-1);
  if (!end) throw new Error('The stream was empty');
  return end.event;
}
