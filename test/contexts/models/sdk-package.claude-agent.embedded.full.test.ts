import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type ClaudeAgentSdk,
  InstalledSdk,
  type SdkMessage,
  type SdkProcess,
  type SdkQuery,
  type SpawnRequest,
  toolUseIdOf,
} from '../../../src/models/providers/claude-agent-sdk/loop/installed-sdk.js';
import { MessagesCall, TOOL } from '../../../src/models/providers/claude-agent-sdk/loop/messages-call.js';
import { processEnvironment, sdkOptions } from '../../../src/models/providers/claude-agent-sdk/loop/process-options.js';
import { SystemClock } from '../../../src/platform/clock/index.js';
import { until } from '../../support/until.js';

/*
 * Tests what the loop relies on with the installed package, so that an incompatible upgrade fails.
 */

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly key: unknown;
  readonly body: { readonly tools?: readonly { readonly name: string }[]; readonly messages?: readonly object[] };
}

const clock = new SystemClock();
const KEY = 'key-of-the-process';

let folder: string;
let api: Server;
let sent: Sent[];
let connects: string[];
let toolIds: (string | undefined)[];
let pids: number[];
let answer: (call: MessagesCall, request: Sent) => void;
let queries: SdkQuery[];
let input: { push(text: string): void };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sdk-package-'));
  [sent, connects, toolIds, pids, queries] = [[], [], [], [], []];
  answer = (call) => call.answerWithEnd();
  api = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = {
        method,
        path: url.split('?')[0] ?? '',
        key: headers['x-api-key'],
        body: JSON.parse(text || '{}') as Sent['body'],
      };
      sent.push(one);
      answer(new MessagesCall(response, clock), one);
    });
  });
  api.on('connect', (request, socket) => {
    connects.push(request.url ?? '');
    socket.destroy();
  });
  api.listen(0, '127.0.0.1');
  await once(api, 'listening');
});

afterEach(() => {
  for (const query of queries) query.close();
  for (const pid of pids) if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
  api.closeAllConnections();
  api.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

function spawned({ command, args, env }: SpawnRequest): SdkProcess {
  const present = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...present, HOME: folder, TMPDIR: folder },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  pids.push(child.pid ?? 0);
  return child;
}

async function open(): Promise<AsyncIterator<SdkMessage>> {
  const sdk: ClaudeAgentSdk = await new InstalledSdk(resolve('claude-agent')).load();
  const prompts: object[] = [];
  let wake: () => void = () => undefined;
  input = {
    push: (content) => {
      prompts.push({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' });
      wake();
    },
  };
  async function* all(): AsyncGenerator<object> {
    for (;;) {
      yield* prompts.splice(0);
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  const call = sdk.tool(
    TOOL.name,
    'Any.',
    {},
    (_, extra) => {
      toolIds.push(toolUseIdOf(extra));
      return Promise.resolve({ content: [{ type: 'text', text: 'made' }] });
    },
    { annotations: { readOnlyHint: true } },
  );
  const server = sdk.createSdkMcpServer({ name: TOOL.server, version: '1.0.0', tools: [call] });
  const env = processEnvironment(folder, `http://127.0.0.1:${(api.address() as AddressInfo).port}`, KEY);
  const query = sdk.query({ prompt: all(), options: sdkOptions({ folder, env, server, spawn: spawned }) });
  queries.push(query);
  return query[Symbol.asyncIterator]();
}

async function turn(messages: AsyncIterator<SdkMessage>, text: string): Promise<SdkMessage> {
  input.push(text);
  for (;;) {
    const { value, done } = await messages.next();
    if (done === true) throw new Error('The process ended');
    if (value.type === 'result') return value;
  }
}

describe('the installed Claude Agent SDK', () => {
  it('is the version that the service supports', () => {
    expect(new InstalledSdk(resolve('claude-agent')).missing).toBeNull();
  });

  it('sends one request a turn to the base URL, with its key, and no other', async () => {
    const messages = await open();
    for (const text of ['one', 'two', 'three']) await turn(messages, text);
    expect(sent.map(({ method, path, key }) => [method, path, key])).toEqual(
      Array(3).fill(['POST', '/v1/messages', KEY]),
    );
    expect(connects).toEqual([]);
  });

  it('runs several turns in one process', async () => {
    const messages = await open();
    for (const text of ['one', 'two']) await turn(messages, text);
    expect(pids).toHaveLength(1);
    expect(JSON.stringify(sent[1]?.body.messages)).toContain('two');
  });

  it('offers only the tool of the service', async () => {
    await turn(await open(), 'one');
    const names = sent[0]?.body.tools?.map(({ name }) => name) ?? [];
    // The first is a placeholder for tools that are loaded later; there are none.
    expect(names.filter((name) => name !== 'DeferredToolPlaceholder')).toEqual([TOOL.inRequests]);
  });

  it('makes the calls of a response concurrently in the process of the service, with their ids', async () => {
    answer = (call) =>
      sent.length === 1 ? call.answerWithTools(['toolu_a', 'toolu_b', 'toolu_c']) : call.answerWithEnd();
    await turn(await open(), 'one');
    expect(toolIds.toSorted()).toEqual(['toolu_a', 'toolu_b', 'toolu_c']);
    expect(sent).toHaveLength(2);
  });

  it('reads no settings, memory or hooks from the home folder and the working directory', async () => {
    const ran = join(folder, 'hook-ran');
    for (const place of [folder, join(folder, '.claude'), join(folder, 'config')]) {
      mkdirSync(place, { recursive: true });
      writeFileSync(join(place, 'CLAUDE.md'), 'canary-memory');
      const hook = { hooks: [{ type: 'command', command: `touch ${ran}` }] };
      const settings = {
        hooks: { SessionStart: [hook], UserPromptSubmit: [hook], PreToolUse: [hook] },
        env: { CANARY: 'canary-env' },
      };
      writeFileSync(join(place, 'settings.json'), JSON.stringify(settings));
    }
    await turn(await open(), 'one');
    expect(JSON.stringify(sent)).not.toContain('canary');
    expect(existsSync(ran)).toBe(false);
  });

  it('ends its process when it is closed, even during a turn', async () => {
    answer = () => undefined;
    const messages = await open();
    void turn(messages, 'one').catch(() => undefined);
    await until(() => sent.length === 1, 'the model is called');
    queries[0]?.close();
    await until(() => !existsSync(`/proc/${pids[0]}`), 'the process has ended');
  });
});
