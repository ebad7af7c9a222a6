import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Settings } from '../../../src/platform/config/index.js';
import { approve, ASKS_ALWAYS, NotingTool } from '../../support/approvals.js';
import { claudeAgentProcesses } from '../../support/claude-agent-processes.js';
import { startService, until, useService } from '../../support/harness.js';
import { CLAUDE_AGENT_WIRES } from '../../support/provider-wire.js';
import { answers, calls, HeldReply, says } from '../../support/scripted-models.js';
import { during, endlessTool, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { endOf, Talk } from '../../support/talk.js';

const POOL = 4;
const service = useService({ extensions: scriptedRuns, environment: { CLAUDE_AGENT_PROCESSES: String(POOL) } });

const AGENT = { provider: { type: 'claude-agent-sdk' } };

function dataDir(): string {
  return service.app.get(Settings).dataDir;
}

function pids(): number[] {
  return claudeAgentProcesses(dataDir()).map(({ pid }) => pid);
}

function killAll(signal: NodeJS.Signals = 'SIGKILL'): void {
  for (const pid of pids()) process.kill(pid, signal);
}

async function cancel(talk: Talk, runId: string): Promise<void> {
  await service.http('POST', `${talk.path}/runs/${runId}/cancel`, { key: talk.key });
}

describe.each(CLAUDE_AGENT_WIRES)('an agent on the Claude Agent SDK with a model of $api', (wire) => {
  const agent = { provider: { type: wire.provider, model: wire.model } };

  it('makes one request for each model call, to its provider with its key, and counts its usage', async () => {
    const talk = await Talk.start(service, agent);
    during(talk.threadId, { tools: [tool('weather', () => output('rain'))] });
    service.models.next(
      answers({ calls: [{ id: 'c1', name: 'weather', input: { city: 'Oslo' } }] }),
      says('It rains.'),
    );
    const { body } = await talk.run('Weather?');
    expect(body.run).toMatchObject({ status: 'completed', error: null });
    expect(service.models.requests.map(({ headers }) => wire.keyOf(headers))).toEqual(
      Array(2).fill(expect.stringMatching(/^managed-/)),
    );
    expect(service.models.requests.map(({ body: sent }) => JSON.stringify(sent).includes(wire.model))).toEqual(
      wire.api === 'gemini' ? [false, false] : [true, true],
    );
    expect(wire.toolResults(service.models.requests[1]?.body ?? {})).toEqual([
      { id: 'c1', output: 'rain', isError: false },
    ]);
    const { steps, usage } = await talk.trace();
    expect(steps.map(({ type, name }) => [type, name])).toEqual([
      ['model', wire.model],
      ['tool', 'weather'],
      ['model', wire.model],
    ]);
    expect(usage).toMatchObject(body.run.usage);
  });

  it('sends its own key to the provider of the model', async () => {
    const talk = await Talk.start(service, {
      provider: { ...agent.provider, useOwnApiKey: true, apiKey: 'canary-own-key' },
    });
    service.models.next(says('Hello'));
    expect((await talk.run('Hi')).body.run).toMatchObject({
      status: 'completed',
      usage: { inputTokens: 11, outputTokens: 7, credits: 0 },
    });
    expect(service.models.requests.map(({ headers }) => wire.keyOf(headers))).toEqual(['canary-own-key']);
    for (const { environment } of claudeAgentProcesses(dataDir()))
      expect(JSON.stringify(environment)).not.toContain('canary');
  });
});

describe('the model of an agent on the Claude Agent SDK', () => {
  it('gets the prompt, the conversation and the tools of the service, and nothing of the SDK', async () => {
    const talk = await Talk.start(service, { ...AGENT, systemPrompt: 'You are brief.' });
    during(talk.threadId, { tools: [tool('weather', () => output('rain'))] });
    service.models.next(says('Yes.'));
    await talk.run('/cost @/etc/hostname');
    expect(service.models.requests[0]?.body).toMatchObject({
      system: [{ type: 'text', text: 'You are brief.' }],
      messages: [{ role: 'user', content: '/cost @/etc/hostname' }],
      tools: [{ name: 'weather' }],
    });
  });

  it('gets the earlier conversation in any process', async () => {
    const talk = await Talk.start(service, AGENT);
    service.models.always(says('Noted.'));
    await talk.run('The word is heron.');
    killAll();
    await talk.run('Which word?');
    const sent = JSON.stringify(service.models.requests.at(-1)?.body);
    for (const text of ['The word is heron.', 'Noted.', 'Which word?']) expect(sent).toContain(text);
  });
});

describe('the processes', () => {
  it('have an environment without the service’s variables, and a folder that is removed with them', async () => {
    const talk = await Talk.start(service, AGENT);
    service.models.always(says('Hello'));
    await talk.run('Hi');
    const [{ environment } = { environment: {} }] = claudeAgentProcesses(dataDir());
    const known =
      /^(PATH|LANG|HOME|TMPDIR|PWD|CLAUDE_\w+|ANTHROPIC_(BASE_URL|API_KEY)|\w+_TIMEOUT(_MS)?|DISABLE_\w+|(HTTPS?|NO)_PROXY|OLDPWD|SHLVL|_|NoDefaultCurrentDirectoryInExePath|MCP_\w+)$/;
    expect(Object.keys(environment).filter((name) => !known.test(name))).toEqual([]);
    const text = JSON.stringify(environment);
    for (const secret of ['managed-', 'ak_', 'postgres', service.models.upstream.url])
      expect(text).not.toContain(secret);
    killAll();
    await until(() => readdirSync(join(dataDir(), 'claude-agent')).length === 0, 'the folders are gone');
  });

  it('of a killed service leave folders, which the next service removes after a day', async () => {
    const [old, young] = [randomUUID(), randomUUID()].map((id) => join(dataDir(), 'claude-agent', id));
    for (const folder of [old, young]) mkdirSync(folder ?? '', { recursive: true });
    const yesterday = Date.now() / 1_000 - 25 * 3_600;
    utimesSync(old ?? '', yesterday, yesterday);
    const later = await startService({ environment: { DATA_DIR: dataDir() }, extensions: scriptedRuns });
    const talk = await Talk.start(later, AGENT);
    later.models.next(says('Hello'));
    await talk.run('Hi');
    await until(() => !existsSync(old ?? ''), 'the old folder is gone');
    expect(existsSync(young ?? '')).toBe(true);
    await later.close();
  });

  it('belong to one organization each', async () => {
    service.models.always(says('Hello'));
    const one = await Talk.start(service, AGENT);
    await one.run('Hi');
    const first = pids();
    const other = await Talk.start(service, AGENT);
    await other.run('Hi');
    expect(pids().filter((pid) => !first.includes(pid))).toHaveLength(1);
  });

  it('serve 50 conversations of 5 organizations, with at most the configured number in parallel', async () => {
    service.models.always(says('Hello'));
    const talks = await Promise.all(Array.from({ length: 5 }, () => Talk.start(service, AGENT)));
    const threads = (
      await Promise.all(talks.map((talk) => Promise.all(Array.from({ length: 10 }, () => talk.another()))))
    ).flat();
    let most = 0;
    const timer = setInterval(() => (most = Math.max(most, pids().length)), 50);
    const ended = await Promise.all(threads.map((thread) => thread.run('Hi')));
    clearInterval(timer);
    expect(ended.map(({ body }) => body.run.status)).toEqual(Array(50).fill('completed'));
    // A process that is being killed is still listed.
    expect(most).toBeLessThanOrEqual(POOL + 2);
  });

  it('are freed by a run that waits for approval', async () => {
    const talks = await Promise.all(
      Array.from({ length: POOL + 1 }, () => Talk.start(service, { ...AGENT, ...ASKS_ALWAYS })),
    );
    const pay = new NotingTool('pay');
    for (const talk of talks) {
      during(talk.threadId, { tools: [pay.offered] });
      service.models.next(calls('pay', { sum: 5 }));
      expect((await talk.run('Pay')).body.run.status).toBe('requires_action');
    }
    expect(pay.inputs).toEqual([]);
    const [talk] = talks as [Talk];
    service.models.next(says('Paid.'));
    const asked = await talk.storedAs((await talk.storedRun())?.id ?? '');
    const resumed = await talk.resume(...asked.body.interrupts.map(approve));
    expect([resumed.body.run.status, pay.inputs]).toEqual(['completed', [{ sum: 5 }]]);
  });
});

describe('a process that is killed', () => {
  it('during a model call does not affect the reply', async () => {
    const talk = await Talk.start(service, AGENT);
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    const held = new HeldReply(['Let me '], ['see.']);
    service.models.next(held.script);
    const run = talk.run('Go');
    await held.asked;
    killAll();
    held.finish();
    expect((await run).body).toMatchObject({ run: { status: 'completed' }, message: { content: 'Let me see.' } });
  });

  it('between an answer and its tool calls is replaced, and the calls are made once', async () => {
    const talk = await Talk.start(service, AGENT);
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(async (exchange, wire) => {
      killAll();
      await exchange.sendAll(wire.toolCall({ id: 'c1', name: 'pay', inputParts: ['{"sum":1}'] }));
    }, says('Paid.'));
    expect((await talk.run('Pay')).body).toMatchObject({ run: { status: 'completed' }, message: { content: 'Paid.' } });
    expect([pay.inputs, service.models.requests.length]).toEqual([[{ sum: 1 }], 2]);
  });

  it('during a tool call does not cause a second call', async () => {
    const talk = await Talk.start(service, AGENT);
    let made = 0;
    const slow = tool('slow', () => {
      made += 1;
      killAll();
      return output('done');
    });
    during(talk.threadId, { tools: [slow] });
    service.models.next(calls('slow'), says('Done.'));
    expect((await talk.run('Go')).body).toMatchObject({ run: { status: 'completed' }, message: { content: 'Done.' } });
    expect(made).toBe(1);
  });
});

describe('a process that does not answer any more', () => {
  it('does not keep a cancelled run from ending, and is killed', async () => {
    killAll();
    const talk = await Talk.start(service, AGENT);
    const held = new HeldReply(['Wait']);
    service.models.next(held.script);
    const events = talk.streamed('Go');
    await held.asked;
    const deaf = pids();
    killAll('SIGSTOP');
    await cancel(talk, (await talk.storedRun())?.id ?? '');
    expect(endOf(await events)).toMatchObject({ type: 'RUN_FINISHED' });
    await until(() => !pids().some((pid) => deaf.includes(pid)), 'the deaf process is gone');
    held.finish();
  });

  it('is replaced, and the run continues', async () => {
    const talk = await Talk.start(service, AGENT);
    const pay = new NotingTool('pay');
    during(talk.threadId, { tools: [pay.offered] });
    service.models.next(async (exchange, wire) => {
      killAll('SIGSTOP');
      await exchange.sendAll(wire.toolCall({ id: 'c1', name: 'pay', inputParts: ['{"sum":1}'] }));
    }, says('Paid.'));
    expect((await talk.run('Pay')).body).toMatchObject({ run: { status: 'completed' }, message: { content: 'Paid.' } });
    expect(pay.inputs).toEqual([{ sum: 1 }]);
  });
});

describe('a run that is cancelled during a tool call', () => {
  it('ends at once, and its process serves the next run', async () => {
    const talk = await Talk.start(service, AGENT);
    const { offered, called } = endlessTool();
    during(talk.threadId, { tools: [offered] });
    service.models.next(calls('slow'), says('Hello'));
    const run = talk.run('Go');
    await called;
    const before = pids();
    await cancel(talk, (await talk.storedRun())?.id ?? '');
    expect((await run).body.run.status).toBe('cancelled');
    await until(
      async () => (await service.http('GET', '/metrics')).text.includes('processes{state="busy"} 0'),
      'no process is busy',
    );
    await talk.run('Hi');
    expect(pids()).toEqual(before);
  });
});
