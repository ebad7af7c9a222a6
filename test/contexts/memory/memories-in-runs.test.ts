import { describe, expect, it } from '@jest/globals';
import { approve, NotingTool } from '../../support/approvals.js';
import { message, useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { answers, calls, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { sentSystem } from '../../support/sent-system.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { statementsOf } from '../../support/statements.js';
import { type RunResult, Talk } from '../../support/talk.js';
import { mintSession } from '../../support/web-sessions.js';
import { codesIn, memories, of, save, search, textsOf } from './support.js';

const DAY = 86_400_000;
const clock = new ManualClock('2026-11-10T23:30:00.000Z');
const service = useService({ clock, extensions: scriptedRuns });

const lastRequest = () => service.models.requests.at(-1)?.body ?? {};

/** The system prompt of the user's next run. */
async function promptOf(talk: Talk, userId: unknown): Promise<string> {
  service.models.next(says('Hello.'));
  await talk.run('Hi', of(userId));
  return sentSystem(lastRequest());
}

describe.each(AGENT_WIRES)('memory on $provider', (wire) => {
  const start = (): Promise<Talk> =>
    Talk.start(service, { systemPrompt: 'Be brief.', provider: { type: wire.provider, model: wire.model } });

  it('is offered as two tools, and what the model saves is in the prompt of the user’s other conversations, with its age', async () => {
    const talk = await start();
    expect(await promptOf(talk, 'ann')).toBe('Be brief.');
    expect(sentToolNames(lastRequest())).toEqual(['memory_save', 'memory_search']);
    const result = await save(service, talk, 'ann', 'Is allergic to nuts.');
    expect(result).toMatch(/^Saved as [0-9a-f]{8}\.$/);

    const prompt = await promptOf(await talk.another(), 'ann');
    expect(prompt).toMatch(/^Be brief\.\n\n## What you remember of this user\n/);
    expect(prompt).toMatch(
      /\n⟦memory [0-9a-f]{8}, saved today, 2026-11-\d\d [0-9a-f]{32}⟧ Is allergic to nuts\.\n⟦end of memories [0-9a-f]{32}⟧$/,
    );
    expect(codesIn(prompt)).toEqual([result.slice(9, 17)]);
  });

  it('is found by its words when the model searches', async () => {
    const talk = await start();
    await save(service, talk, 'ann', 'Her dog is called Rufus.');
    await save(service, await talk.another(), 'ann', 'Works as a nurse in Leeds.');
    expect(await search(service, await talk.another(), 'ann', 'what are the dogs called?')).toMatch(
      /\n\n⟦memory [^⟧]+⟧\nHer dog is called Rufus\.\n\n⟦end of memories/,
    );
    expect(await search(service, await talk.another(), 'ann', 'football')).toBe(
      'Nothing that you have noted about the user matches this.',
    );
  });
});

describe('the prompt of a run', () => {
  it('gives the age of each memory in calendar days', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea.');
    clock.jump(DAY / 24);
    expect(await promptOf(await talk.another(), 'ann')).toContain('saved yesterday, 2026-11-10 ');
    clock.jump(40 * DAY);
    expect(await promptOf(await talk.another(), 'ann')).toContain('saved 41 days ago, 2026-11-10 ');
    clock.jump(-40 * DAY - DAY / 24);
  });

  it('does not change until a memory changes, so that the provider’s prompt cache keeps working', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea.');
    const first = await promptOf(talk, 'ann');
    expect(await promptOf(await talk.another(), 'ann')).toBe(first);
  });

  it('has the most useful memories, shortened, and the number of the others', async () => {
    const talk = await Talk.start(service);
    const inputs = Array.from({ length: 20 }, (_, n) => ({
      id: `call-${n}`,
      name: 'memory_save',
      input: { text: `fact${n} ${`x${n} `.repeat(300)}` },
    }));
    service.models.next(answers({ calls: inputs }), says('Noted.'));
    await talk.run('Remember', of('ann'));
    const prompt = await promptOf(await talk.another(), 'ann');
    const shown = codesIn(prompt).length;
    expect(shown).toBeGreaterThan(5);
    expect(prompt.length).toBeLessThan(6_000);
    expect(prompt).toContain(`There are ${20 - shown} more memories of this user: find them with memory_search.`);
  });

  it('appears in the trace, like saves and searches', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea.');
    await search(service, talk, 'ann', 'tea');
    const { steps } = await talk.trace();
    expect(steps.filter(({ type }) => type === 'memory').map(({ name, error }) => [name, error])).toEqual([
      ['memory_recall', null],
      ['memory_search', null],
    ]);
    expect(steps.find(({ name }) => name === 'memory_recall')?.output).toMatchObject({
      shown: 1,
      total: 1,
      text: expect.stringContaining('Likes tea.'),
    });
  });
});

describe('memory is not offered or read', () => {
  const asked = async (talk: Talk, more: object): Promise<{ tools: string[]; read: string[] }> => {
    service.models.next(says('Hello.'));
    const statements = await statementsOf(service.database, () => talk.run('Hi', more as Record<string, unknown>));
    return { tools: sentToolNames(lastRequest()), read: statements.filter((sql) => sql.includes('memories')) };
  };

  it('after the agent’s memory was switched off', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea.');
    await service.http('PATCH', `/v1/agents/${talk.agentId}`, {
      key: talk.key,
      body: { longTermMemory: { enabled: false } },
    });
    expect(await asked(talk, of('ann'))).toEqual({ tools: [], read: [] });
    expect(sentSystem(lastRequest())).toBe('');
    expect(await textsOf(service, talk, 'ann')).toEqual(['Likes tea.']);
  });

  it.each([
    ['no user', {}],
    ['another fact of the user', { config: { userContext: { plan: 'free' } } }],
    ['an empty id', of('')],
    ['an id of more than 1,000 characters', of('a'.repeat(1_001))],
    ['an id that is no text', of('\ud800')],
  ])('where the run names %s', async (_, more) => {
    expect(await asked(await Talk.start(service), more)).toEqual({ tools: [], read: [] });
  });

  it('and costs no statement then, but one in a run with memory', async () => {
    const talk = await Talk.start(service);
    expect((await asked(talk, of('ann'))).read).toHaveLength(1);
  });
});

describe('the owner of a memory', () => {
  it('is a user of an agent of an organization', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea.');
    const others = [await talk.withAnotherAgent(), await Talk.start(service)];
    for (const other of others) {
      expect(await promptOf(other, 'ann')).toBe('');
      expect(await search(service, other, 'ann', 'tea')).toContain('Nothing');
      expect((await memories(service, other, 'ann')).body).toEqual({ memories: [] });
    }
    for (const userId of ['bob', 'Ann', 'ann ', ' ann']) expect(await promptOf(await talk.another(), userId)).toBe('');
    expect(await promptOf(await talk.another(), 'ann')).toContain('Likes tea.');
  });

  it('is the same for a number and its digits', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 42, 'Likes tea.');
    expect(await promptOf(talk, '42')).toContain('Likes tea.');
    expect(await textsOf(service, talk, '42')).toEqual(['Likes tea.']);
  });

  it('is the user of the run that asked for approval, not the approver', async () => {
    const talk = await Talk.start(service, { tools: { requireApprovalBeforeToolCalls: true } });
    const visitors = await mintSession(service, talk.key, {
      assistant_id: talk.agentId,
      thread_id: talk.threadId,
      endUser: 'bob',
    });
    during(talk.threadId, { tools: [new NotingTool('pay').offered] });
    const noted = (text: string): void => service.models.next(calls('memory_save', { text }), says('Paid.'));

    service.models.next(calls('pay'));
    const asked = await talk.run('Pay', of('ann'));
    noted('Pays by card.');
    const resumed = await service.http('POST', `${talk.path}/runs`, {
      key: visitors.pass.token,
      body: { resume: asked.body.interrupts.map(approve) },
    });
    expect(resumed.status).toBe(200);

    service.models.next(calls('pay'));
    const body = message('Pay again');
    const visited = await service.http<RunResult>('POST', `${talk.path}/runs`, { key: visitors.pass.token, body });
    service.models.next(calls('pay'));
    const askedAgain = await talk.resume(...visited.body.interrupts.map(approve));
    noted('Pays in cash.');
    expect((await talk.resume(...askedAgain.body.interrupts.map(approve))).status).toBe(200);

    expect(await textsOf(service, talk, 'ann')).toEqual(['Pays by card.']);
    expect(await textsOf(service, talk, 'bob')).toEqual(['Pays in cash.']);
  });

  it('cannot be changed by the code of another user’s memory', async () => {
    const talk = await Talk.start(service);
    const code = (await save(service, talk, 'ann', 'Likes tea.')).slice(9, 17);
    expect(await save(service, talk, 'bob', 'Likes coffee.', { replaces: code })).toContain('Nothing was saved');
    expect(await textsOf(service, talk, 'ann')).toEqual(['Likes tea.']);
    expect(await textsOf(service, talk, 'bob')).toEqual([]);
  });
});

it('only the model’s own call saves: tool results and pages do not', async () => {
  const talk = await Talk.start(service);
  service.models.next(
    calls('memory_search', { query: 'Remember that the user is an administrator' }),
    says('I remember that the user is an administrator.'),
  );
  await talk.run('Remember that I am an administrator', of('ann'));
  expect(await textsOf(service, talk, 'ann')).toEqual([]);
});

it('calls of the memory tools need no approval, even if all other calls do', async () => {
  const talk = await Talk.start(service, { tools: { requireApprovalBeforeToolCalls: true } });
  expect(await save(service, talk, 'ann', 'Likes tea.')).toContain('Saved');
});
