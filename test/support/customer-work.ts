import { expect } from '@jest/globals';
import { onceFree, ServiceClient } from '../faults/service-client.js';
import { multipart, filePart, type UploadedAnswer } from './files.js';
import { anthropicWire } from './provider-wire.js';
import type { ScriptedModels } from './scripted-models.js';
import type { ServiceProcess } from './service-process.js';

interface Upload {
  readonly url: string;
  readonly content: string;
}

/** What the service has confirmed to the customer. */
export interface Confirmed {
  readonly threads: ReadonlyMap<string, readonly string[]>;
  readonly uploads: readonly Upload[];
}

const OWN_KEY = 'sk-ant-of-the-customer';
const THREADS = 3;
/** Of each kind: all together are fewer than the requests that a key may make in a minute, and fit on one page of messages. */
const MOST_STEPS = 45;

/** A customer who chats and uploads until `stop`, and remembers what was confirmed. */
export class CustomerWork {
  private readonly threads = new Map<string, string[]>();
  private readonly uploads: Upload[] = [];
  private isStopping = false;
  private working: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly service: ServiceProcess,
    private readonly key: string,
  ) {}

  /** Begins, and returns once something of each kind was confirmed. */
  static async begin(service: ServiceProcess, key: string): Promise<CustomerWork> {
    const work = new CustomerWork(service, key);
    const client = new ServiceClient(service, key);
    const provider = { type: 'anthropic', useOwnApiKey: true, apiKey: OWN_KEY };
    const { id } = await client.call<{ id: string }>('POST', '/v1/agents', { name: 'A', provider });
    for (let made = 0; made < THREADS; made += 1) {
      const thread = await client.call<{ id: string }>('POST', '/v1/threads', { assistant_id: id });
      work.threads.set(thread.id, []);
      await work.chat(client, thread.id);
    }
    await work.upload();
    work.working = work.continue(client);
    work.working.catch(() => undefined);
    return work;
  }

  confirmed(): Confirmed {
    const threads = [...this.threads].map(([id, sent]) => [id, [...sent]] as const);
    return { threads: new Map(threads), uploads: [...this.uploads] };
  }

  /** @throws what a request failed with since the beginning */
  async stop(): Promise<Confirmed> {
    this.isStopping = true;
    await this.working;
    return this.confirmed();
  }

  private async continue(client: ServiceClient): Promise<void> {
    const loop = async (step: () => Promise<void>): Promise<void> => {
      for (let steps = 0; !this.isStopping && steps < MOST_STEPS; steps += 1) await step();
    };
    const chats = [...this.threads.keys()].map((id) => loop(() => this.chat(client, id)));
    await Promise.all([...chats, loop(() => this.upload())]);
  }

  private async chat(client: ServiceClient, threadId: string): Promise<void> {
    const sent = this.threads.get(threadId) ?? [];
    const content = `Message ${sent.length}`;
    await client.call('POST', `/v1/threads/${threadId}/runs`, { message: { role: 'user', content } });
    sent.push(content);
  }

  private async upload(): Promise<void> {
    const content = `Upload ${this.uploads.length}`;
    const { body, contentType } = multipart([filePart(content)]);
    const headers = { 'content-type': contentType, authorization: `Bearer ${this.key}` };
    const answer = await fetch(`${this.service.url}/v1/files/upload`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(`An upload failed: ${answer.status} ${await answer.text()}`);
    this.uploads.push({ url: ((await answer.json()) as UploadedAnswer).url, content });
  }
}

/** Expects all that was confirmed before the copy, nothing out of order, and that a thread goes on with the customer's secret. */
export async function expectAllThere(
  service: ServiceProcess,
  key: string,
  { before, models }: { readonly before: Confirmed; readonly models: ScriptedModels },
): Promise<void> {
  const client = new ServiceClient(service, key);
  for (const [threadId, sent] of before.threads) {
    const messages = (
      await client.call<{ messages: { role: string; content: string }[] }>(
        'GET',
        `/v1/threads/${threadId}/messages?limit=100`,
      )
    ).messages;
    const users = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    expect(users.slice(0, sent.length)).toEqual(sent);
    expect(users).toEqual(users.map((_text, index) => `Message ${index}`));
    expect(messages.filter(({ role }) => role === 'assistant').length).toBeGreaterThanOrEqual(sent.length);
  }
  for (const { url, content } of before.uploads) {
    const { pathname, search } = new URL(url);
    expect(await (await fetch(service.url + pathname + search)).text()).toBe(content);
  }
  const [threadId] = [...before.threads.keys()];
  const asked = models.requests.length;
  const body = { message: { role: 'user', content: 'On?' } };
  // The copy may have a run that was under way.
  await onceFree(() => client.call('POST', `/v1/threads/${threadId}/runs`, body));
  expect(models.requests.slice(asked).map(({ headers }) => anthropicWire.keyOf(headers))).toEqual([OWN_KEY]);
}
