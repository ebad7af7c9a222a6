import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DataFolder, dataFolder } from '../support/data-folder.js';
import { until } from '../support/harness.js';
import { type ModeEnvironment, modeEnvironment } from '../support/mode-environment.js';
import { anthropicWire } from '../support/provider-wire.js';
import { answers, HeldReply, says, ScriptedModels } from '../support/scripted-models.js';
import { ServiceProcess } from '../support/service-process.js';
import { readEvents } from '../support/sse.js';
import { type Listed, onceFree, ServiceClient } from './service-client.js';

const THREADS = 6;
const KILLS = 3;
const ACKNOWLEDGED_BEFORE_KILL = 20;

interface Conversation {
  readonly threadId: string;
  /** The messages that the service has acknowledged as stored, in order. */
  readonly acknowledged: string[];
  sent: number;
}

interface RunAnswer {
  readonly run: { readonly id: string; readonly status: string };
}

let models: ScriptedModels;
let environment: ModeEnvironment;
let data: DataFolder;
let service: ServiceProcess;
let key: string;

async function call<Body>(method: string, path: string, body?: object): Promise<Body> {
  const response = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
}

function start(entry?: string, more: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  return ServiceProcess.start({
    environment: { DATA_DIR: data.path, ...models.environment, ...environment.variables, ...more },
    ...(entry === undefined ? {} : { entry }),
  });
}

/** Sends a message and records what is acknowledged; a kill breaks the stream. */
async function turn(conversation: Conversation): Promise<void> {
  conversation.sent += 1;
  const content = `message ${conversation.sent}`;
  const response = await fetch(`${service.url}/v1/threads/${conversation.threadId}/runs/stream`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ message: { role: 'user', content } }),
  });
  if (response.status !== 200 || !response.body) throw new Error(`${response.status} ${await response.text()}`);
  for await (const { data } of readEvents(response.body)) {
    const event = JSON.parse(data) as { type: string; result?: { message: { content: string } } };
    if (event.type === 'RUN_STARTED') conversation.acknowledged.push(`user: ${content}`);
    if (event.type === 'RUN_FINISHED')
      conversation.acknowledged.push(`assistant: ${event.result?.message.content ?? ''}`);
  }
}

/** Sends a message until it is accepted, which is after the run of the dead process was ended. */
function turnWhenFree(conversation: Conversation): Promise<void> {
  return onceFree(
    () => turn(conversation),
    () => {
      conversation.sent -= 1;
    },
  );
}

function total(conversations: readonly Conversation[]): number {
  return conversations.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
}

/** Talks on all threads in parallel until the service is dead. */
async function talkUntilKilled(conversations: readonly Conversation[]): Promise<void> {
  const enough = total(conversations) + ACKNOWLEDGED_BEFORE_KILL;
  let killed: Promise<void> | undefined;
  await Promise.all(
    conversations.map(async (conversation) => {
      try {
        while (!killed) {
          await turnWhenFree(conversation);
          if (total(conversations) >= enough) killed ??= service.kill();
        }
      } catch (error) {
        if (!killed) throw error;
      }
    }),
  );
  await killed;
}

beforeAll(async () => {
  models = await ScriptedModels.start();
  environment = await modeEnvironment();
  data = await dataFolder();
  service = await start();
  key = service.firstKey ?? '';
});

afterAll(async () => {
  await service.kill();
  await models.close();
  await environment.close();
  data.remove();
});

describe('a service that is killed (SIGKILL) while it streams', () => {
  it('has every acknowledged message once and in order after each restart, and the next message works', async () => {
    models.always(says('some', ' words', ' in', ' reply'));
    const agent = await call<{ id: string }>('POST', '/v1/agents', { name: 'A', provider: { type: 'anthropic' } });
    const conversations: Conversation[] = [];
    for (let index = 0; index < THREADS; index += 1) {
      const { id } = await call<{ id: string }>('POST', '/v1/threads', { assistant_id: agent.id });
      conversations.push({ threadId: id, acknowledged: [], sent: 0 });
    }

    for (let kill = 0; kill < KILLS; kill += 1) {
      await talkUntilKilled(conversations);
      service = await start();
      for (const conversation of conversations) {
        const { messages } = await call<Listed>('GET', `/v1/threads/${conversation.threadId}/messages`);
        const stored = messages.map(({ role, content }) => `${role}: ${content}`);
        expect(stored.filter((line) => conversation.acknowledged.includes(line) || line.startsWith('user'))).toEqual(
          stored,
        );
        expect(withoutUnacknowledged(stored, conversation.acknowledged)).toEqual(conversation.acknowledged);
        const asked = stored.filter((line) => line.startsWith('user'));
        expect(new Set(asked).size).toBe(asked.length);
      }
    }
    for (const conversation of conversations) await turnWhenFree(conversation);
  }, 480_000);

  it('ends the interrupted run as failed and keeps its stored message', async () => {
    const agent = await call<{ id: string }>('POST', '/v1/agents', { name: 'B', provider: { type: 'anthropic' } });
    const thread = await call<{ id: string }>('POST', '/v1/threads', { assistant_id: agent.id });
    const held = new HeldReply(['never finished']);
    models.reset();
    models.next(held.script);
    const conversation: Conversation = { threadId: thread.id, acknowledged: [], sent: 0 };
    const broken = turn(conversation).catch(() => undefined);
    await held.asked;
    await service.kill();
    await broken;
    held.finish();

    service = await start();
    models.always(says('back again'));
    await turnWhenFree(conversation);

    const { messages } = await call<Listed>('GET', `/v1/threads/${thread.id}/messages`);
    expect(messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'user: message 1',
      'user: message 2',
      'assistant: back again',
    ]);
    const { traces } = await call<{ traces: { status: string }[] }>('GET', `/v1/agents/${agent.id}/traces`);
    expect(traces.map(({ status }) => status)).toEqual(['completed', 'failed']);
  });

  it('ends the background run that was under way as failed, and keeps its message', async () => {
    const client = new ServiceClient(service, key);
    const { threadId } = await client.thread();
    const held = new HeldReply(['never finished']);
    models.reset();
    models.next(held.script);
    const { run } = await call<RunAnswer>('POST', `/v1/threads/${threadId}/runs`, {
      message: { role: 'user', content: 'Hi' },
      background: true,
    });
    expect(run.status).toBe('running');
    await held.asked;
    await service.kill();
    held.finish();

    service = await start();
    const read = (): Promise<RunAnswer> => call<RunAnswer>('GET', `/v1/threads/${threadId}/runs/${run.id}`);
    await until(async () => (await read()).run.status !== 'running', 'the run has ended');
    expect(await read()).toMatchObject({ run: { status: 'failed', error: { code: 'internal' } } });
    const { runs } = await call<{ runs: object[] }>('GET', `/v1/threads/${threadId}/runs?status=failed`);
    expect(runs).toMatchObject([{ id: run.id, interrupts: [] }]);
    expect(await new ServiceClient(service, key).messages(threadId)).toMatchObject([{ role: 'user', content: 'Hi' }]);
  });

  it('never repeats a tool call that was under way: it is unknown, and the model reads this', async () => {
    await service.kill();
    const PAYMENTS = join(data.path, 'payments');
    service = await start(resolve('test/support/service-with-tool.mjs'), { PAYMENTS });
    const client = new ServiceClient(service, key);
    const { agentId, threadId } = await client.thread();
    models.reset();
    models.next(answers({ text: 'Paying.', calls: [{ id: 'payment', name: 'pay', input: { sum: 5 } }] }));
    const broken = client.streamed(threadId, 'Pay').catch(() => undefined);
    await until(() => hasPaid(PAYMENTS), 'the tool runs');
    await service.kill();
    await broken;

    service = await start(resolve('test/support/service-with-tool.mjs'), { PAYMENTS });
    models.always(says('I do not know whether it was paid.'));
    const again = new ServiceClient(service, key);
    const conversation: Conversation = { threadId, acknowledged: [], sent: 0 };
    await turnWhenFree(conversation);

    expect(await again.messages(threadId)).toMatchObject([
      { content: 'Pay' },
      { content: 'Paying.', status: 'incomplete', toolCalls: [{ id: 'payment', status: 'unknown' }] },
      { content: 'message 1' },
      { content: 'I do not know whether it was paid.', status: 'completed' },
    ]);
    expect(readFileSync(PAYMENTS, 'utf8')).toBe('{"sum":5}\n');
    expect(anthropicWire.toolResults(models.requests.at(-1)?.body ?? {})).toEqual([
      { id: 'payment', output: expect.stringContaining('unknown'), isError: true },
    ]);
    const { traces } = await call<{ traces: { status: string }[] }>('GET', `/v1/agents/${agentId}/traces`);
    expect(traces.map(({ status }) => status)).toEqual(['completed', 'failed']);
  });
});

describe('a service that is killed (SIGKILL) during an approved call', () => {
  it('still has the request after a restart, never repeats the call, and shows it as unknown', async () => {
    await service.kill();
    const PAYMENTS = join(data.path, 'approved-payments');
    const entry = resolve('test/support/service-with-tool.mjs');
    service = await start(entry, { PAYMENTS });
    const tools = { requireApprovalForResourceChanges: true };
    const agent = await call<{ id: string }>('POST', '/v1/agents', {
      name: 'C',
      provider: { type: 'anthropic' },
      tools,
    });
    const { id: threadId } = await call<{ id: string }>('POST', '/v1/threads', { assistant_id: agent.id });
    const runs = `/v1/threads/${threadId}/runs`;
    models.reset();
    models.next(answers({ text: 'Shall I?', calls: [{ id: 'payment', name: 'pay', input: { sum: 5 } }] }));
    const asked = await call<{ interrupts: { id: string }[] }>('POST', runs, {
      message: { role: 'user', content: 'Pay' },
    });
    const resume = asked.interrupts.map(({ id }) => ({
      interruptId: id,
      status: 'resolved',
      payload: { approved: true },
    }));

    await service.kill();
    service = await start(entry, { PAYMENTS });
    const broken = call('POST', runs, { resume }).catch(() => undefined);
    await until(() => hasPaid(PAYMENTS), 'the tool runs');
    await service.kill();
    await broken;

    service = await start(entry, { PAYMENTS });
    models.always(says('I do not know whether it was paid.'));
    await turnWhenFree({ threadId, acknowledged: [], sent: 0 });

    expect(await new ServiceClient(service, key).messages(threadId)).toMatchObject([
      { content: 'Pay' },
      { content: 'Shall I?', status: 'completed', toolCalls: [{ id: 'payment', status: 'approved' }] },
      { content: '', status: 'incomplete', toolCalls: [{ id: 'payment', status: 'unknown' }] },
      { content: 'message 1' },
      { content: 'I do not know whether it was paid.', status: 'completed' },
    ]);
    expect(readFileSync(PAYMENTS, 'utf8')).toBe('{"sum":5}\n');
    expect(anthropicWire.toolResults(models.requests.at(-1)?.body ?? {})).toEqual([
      { id: 'payment', output: expect.stringContaining('unknown'), isError: true },
    ]);
    await expect(call('POST', runs, { resume })).rejects.toThrow('400');
  });
});

/** The file exists a moment before its line is written. */
function hasPaid(file: string): boolean {
  return existsSync(file) && readFileSync(file, 'utf8').endsWith('\n');
}

/** A message without an acknowledgement may be stored or not. */
function withoutUnacknowledged(stored: readonly string[], acknowledged: readonly string[]): string[] {
  const left = [...acknowledged];
  return stored.filter((line) => {
    if (left[0] !== line) return false;
    left.shift();
    return true;
  });
}
