import type { ServiceProcess } from '../support/service-process.js';
import { readEvents } from '../support/sse.js';
import { until } from '../support/until.js';

export interface Listed {
  readonly messages: readonly {
    readonly role: string;
    readonly runId?: string | null;
    readonly content: string;
    readonly status: string;
    readonly toolCalls?: readonly { readonly id: string; readonly status: string }[];
  }[];
}

export interface ReceivedEvent {
  readonly runId?: string;
  readonly type: string;
  readonly code?: string;
  readonly result?: {
    readonly run: { readonly status: string };
    readonly message: { readonly content: string } | null;
  };
}

/** A customer of a service in a process of its own. */
export class ServiceClient {
  constructor(
    private readonly service: ServiceProcess,
    private readonly key: string,
  ) {}

  fetch(
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(this.service.url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  }

  async call<Body>(method: string, path: string, body?: object): Promise<Body> {
    const response = await this.fetch(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as Body;
  }

  async upload<Body>(path: string, form: FormData): Promise<Body> {
    const headers = { authorization: `Bearer ${this.key}` };
    const response = await fetch(this.service.url + path, { method: 'POST', headers, body: form });
    if (!response.ok) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Body;
  }

  /** An agent with a thread, by their ids. */
  async thread(): Promise<{ agentId: string; threadId: string }> {
    const agent = await this.call<{ id: string }>('POST', '/v1/agents', { name: 'A', provider: { type: 'anthropic' } });
    const thread = await this.call<{ id: string }>('POST', '/v1/threads', { assistant_id: agent.id });
    return { agentId: agent.id, threadId: thread.id };
  }

  async *stream(threadId: string, content: string): AsyncGenerator<ReceivedEvent> {
    const body = { message: { role: 'user', content } };
    const response = await this.fetch('POST', `/v1/threads/${threadId}/runs/stream`, body);
    if (response.status !== 200 || !response.body) throw new Error(`${response.status} ${await response.text()}`);
    for await (const { data } of readEvents(response.body)) yield JSON.parse(data) as ReceivedEvent;
  }

  async streamed(threadId: string, content: string): Promise<ReceivedEvent[]> {
    const events: ReceivedEvent[] = [];
    for await (const event of this.stream(threadId, content)) events.push(event);
    return events;
  }

  async messages(threadId: string): Promise<Listed['messages']> {
    return (await this.call<Listed>('GET', `/v1/threads/${threadId}/messages`)).messages;
  }
}

/** Within this time the run of a dead process is ended, and its thread free. */
const FREE_WITHIN_MS = 60_000;

/** The result of `send` once the thread is free; `refused` is called for each refusal until then. */
export async function onceFree<Result>(send: () => Promise<Result>, refused?: () => void): Promise<Result> {
  const results: Result[] = [];
  const accepted = async (): Promise<boolean> => {
    try {
      return results.push(await send()) > 0;
    } catch (error) {
      if (!String(error).includes('thread_busy')) throw error;
      refused?.();
      return false;
    }
  };
  await until(accepted, 'the run of the dead process is ended', { withinMs: FREE_WITHIN_MS, everyMs: 100 });
  return results[0] as Result;
}
