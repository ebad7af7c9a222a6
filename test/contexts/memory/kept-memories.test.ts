import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { packTerms, toBytes } from '../../../src/memory/domain/packed-terms.js';
import { termsOf } from '../../../src/memory/domain/terms.js';
import { usefulnessOf } from '../../../src/memory/domain/usefulness.js';
import { MemoryRepository } from '../../../src/memory/persistence/memory.repository.js';
import { UserKeys } from '../../../src/conversations/index.js';
import { newId } from '../../../src/platform/ids/index.js';
import { type TestService, until, useService } from '../../support/harness.js';
import { StoppedClock } from '../../support/shifted-clock.js';
import { clusterOnly } from '../../support/modes.js';
import { answers, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { Talk } from '../../support/talk.js';
import { codesIn, memories, of, save, search, textsOf } from './support.js';

const DAY = 86_400_000;
const clock = new StoppedClock();
const service = useService({ clock, extensions: scriptedRuns });

const userKeyOf = (talk: Talk, userId: string): Promise<string | null> =>
  service.app.get(UserKeys, { strict: false }).of(talk.organization.id, userId);

/** Inserts earlier memories into the table, the oldest first. */
async function fill(
  talk: Talk,
  userId: string,
  texts: readonly string[],
  at = (_index: number): Date => clock.now(),
): Promise<void> {
  await service.database.query(
    `insert into memories (id, organization_id, agent_id, user_key, text, terms, usefulness, created_at, updated_at)
     select id::uuid, $1::uuid, $2::uuid, $3::uuid, text, decode(terms, 'base64'), usefulness, at::timestamptz, at::timestamptz
     from jsonb_to_recordset($4::jsonb) as given (id text, text text, terms text, usefulness float8, at text)`,
    [
      ...[talk.organization.id, talk.agentId, await userKeyOf(talk, userId)],
      JSON.stringify(
        texts.map((text, index) => ({
          id: newId(),
          text,
          terms: Buffer.from(toBytes(packTerms(termsOf(text)))).toString('base64'),
          usefulness: usefulnessOf(at(index)),
          at: at(index).toISOString(),
        })),
      ),
    ],
  );
}

const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `fact number${n} alpha${n} beta${n}`);

describe('a memory that says the same as an earlier one', () => {
  it.each([
    ['to the letter', 'Likes green tea in the morning.', 'Likes green tea in the morning.'],
    ['in other case and with other signs between', 'The user likes tea, and cake.', 'user likes Tea and cake!'],
    ['in a script without spaces', '彼女は毎朝緑茶を飲みます', '彼女は毎朝緑茶を飲みます。'],
  ])('%s replaces the earlier one', async (_, before, after) => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', before);
    const [{ id, createdAt } = { id: '', createdAt: '' }] = (await memories(service, talk, 'ann')).body.memories;
    clock.moveOn(1_000);
    expect(await save(service, talk, 'ann', after)).toContain(
      `in place of this earlier memory: ⟦memory ${id.slice(-8)}, `,
    );
    const { body } = await memories(service, talk, 'ann');
    expect(body.memories).toEqual([{ id, text: after, createdAt, updatedAt: clock.now().toISOString() }]);
  });

  it.each([
    ['another number', 'Flies to Rome on the 12th of May at ten', 'Flies to Rome on the 13th of May at ten'],
    ['another sign', 'Blood group of her son is A+', 'Blood group of her son is A-'],
    ['another order', 'Drives from Paris to Rome', 'Drives from Rome to Paris'],
    [
      'a word more',
      'Anna works as a nurse at the hospital in Leeds',
      'Anna not works as a nurse at the hospital in Leeds',
    ],
  ])('but for %s does not, and the model reads the similar one', async (_, before, after) => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', before);
    expect(await save(service, talk, 'ann', after)).toMatch(
      new RegExp(`These memories are similar and were kept\\.[^]*⟧ ${before.replaceAll('+', '\\+')} ⟦end`),
    );
    expect((await textsOf(service, talk, 'ann')).sort()).toEqual([before, after].sort());
  });
});

describe('a correction', () => {
  it('replaces the memory whose code the answer to a similar save named', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Lives in Berlin with two cats');
    const result = await save(service, talk, 'ann', 'Lives in Paris with two cats');
    const [old = ''] = codesIn(result);
    expect(result).toContain('Lives in Berlin with two cats');
    const corrected = await save(service, talk, 'ann', 'Lives in Paris with two cats', { replaces: old });
    expect(corrected).toContain('in place of this earlier memory');
    expect(await textsOf(service, talk, 'ann')).toEqual(['Lives in Paris with two cats']);
  });

  it('gets a new code, so that the second of two corrections of one memory is refused', async () => {
    const talk = await Talk.start(service);
    const code = (await save(service, talk, 'ann', 'Lives in Berlin')).slice(9, 17);
    const inputs = ['Lives in Rome', 'Works as a nurse'].map((text, n) => ({
      id: `call-${n}`,
      name: 'memory_save',
      input: { text, replaces: code },
    }));
    service.models.next(answers({ calls: inputs }), says('Noted.'));
    const { body } = await talk.run('Remember', of('ann'));
    expect(body.message?.toolCalls?.map(({ status }) => status)).toEqual(['completed', 'failed']);
    expect(body.message?.toolCalls?.[1]?.output).toContain('Nothing was saved');
    expect(await textsOf(service, talk, 'ann')).toEqual(['Lives in Rome']);
  });

  it('keeps the time at which the memory was first saved', async () => {
    const talk = await Talk.start(service);
    const code = (await save(service, talk, 'ann', 'Lives in Berlin')).slice(9, 17);
    const [{ createdAt } = { createdAt: '' }] = (await memories(service, talk, 'ann')).body.memories;
    clock.moveOn(1_000);
    await save(service, talk, 'ann', 'Lives in Rome', { replaces: code });
    expect((await memories(service, talk, 'ann')).body.memories).toEqual([
      { id: expect.not.stringContaining(code), text: 'Lives in Rome', createdAt, updatedAt: clock.now().toISOString() },
    ]);
  });

  it('replaces a memory that a search has found', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Her favourite colour is blue');
    const [code = ''] = codesIn(await search(service, talk, 'ann', 'colour'));
    await save(service, talk, 'ann', 'Now likes green best of all', { replaces: code.toUpperCase() });
    expect(await textsOf(service, talk, 'ann')).toEqual(['Now likes green best of all']);
  });

  it.each([
    ['no code', 'the blue one'],
    ['an unknown code', '00000000'],
    ['a number', 7],
    ['part of a code', '%'],
  ])('with %s saves nothing and says so', async (_, replaces) => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea');
    expect(await save(service, talk, 'ann', 'Likes coffee', { replaces })).toContain('Nothing was saved');
    expect(await textsOf(service, talk, 'ann')).toEqual(['Likes tea']);
  });
});

describe('a text', () => {
  it.each([
    ['none', undefined],
    ['a blank one', '  \n'],
    ['one that shows nothing', '\u200b\u3164'],
    ['one of which nothing can be stored', '\u0000'],
    ['one of more than 2,000 characters', 'a'.repeat(2_001)],
    ['a list', ['tea']],
  ])('that is %s is refused with what is allowed', async (_, text) => {
    const talk = await Talk.start(service);
    expect(await save(service, talk, 'ann', text)).toMatch(/^text must be a text of 1 to 2000 characters/);
    expect(await textsOf(service, talk, 'ann')).toEqual([]);
  });

  it('of 2,000 characters of any script is stored unchanged', async () => {
    const talk = await Talk.start(service);
    const text = `𝒜${'名 '.repeat(999)}`.padEnd(2_001, 'é');
    expect([...text]).toHaveLength(2_000);
    await save(service, talk, 'ann', text);
    expect(await textsOf(service, talk, 'ann')).toEqual([text]);
  });

  it('is stored without the characters that the database cannot store', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes\u0000 tea \ud800');
    expect(await textsOf(service, talk, 'ann')).toEqual(['Likes tea \ufffd']);
  });
});

describe('at most 500 memories of a user', () => {
  it('are kept: a new one replaces the one that was not used for longest', async () => {
    const talk = await Talk.start(service);
    const days = (index: number): Date => new Date(clock.now().getTime() - ((500 - index) * DAY) / 10);
    await fill(talk, 'ann', numbered(500), days);
    // A search finds all but one of the oldest again.
    await search(service, talk, 'ann', 'number0 alpha0');
    await save(service, talk, 'ann', 'Likes tea');
    const kept = await textsOf(service, talk, 'ann');
    expect(kept).toHaveLength(500);
    expect(kept).toContain('Likes tea');
    expect(kept).toContain('fact number0 alpha0 beta0');
    expect(kept).not.toContain('fact number1 alpha1 beta1');
  });

  it('include the new one, even if all others were used more often', async () => {
    const talk = await Talk.start(service);
    await fill(talk, 'ann', numbered(500), () => new Date(clock.now().getTime() + 30 * DAY));
    await save(service, talk, 'ann', 'Likes tea');
    const kept = await textsOf(service, talk, 'ann');
    expect([kept.length, kept.includes('Likes tea')]).toEqual([500, true]);
  });

  it('and a reply that waited for an approval has no more saves than others', async () => {
    const talk = await Talk.start(service, { tools: { requireApprovalBeforeToolCalls: true } });
    during(talk.threadId, { tools: [tool('pay', () => output('paid'))] });
    const calls = (from: number, to: number, more: readonly object[] = []) =>
      answers({
        calls: [
          ...numbered(to)
            .slice(from)
            .map((text, n) => ({ id: `call-${from + n}`, name: 'memory_save', input: { text } })),
          ...(more as []),
        ],
      });
    service.models.next(calls(0, 15, [{ id: 'pay', name: 'pay' }]));
    const { body } = await talk.run('Remember and pay', of('ann'));
    service.models.next(calls(15, 25), says('Done.'));
    const resume = body.interrupts.map(({ id }) => ({
      interruptId: id,
      status: 'resolved',
      payload: { approved: true },
    }));
    expect((await talk.post({ resume, ...of('ann') })).body.run.status).toBe('completed');
    expect(await textsOf(service, talk, 'ann')).toHaveLength(20);
  });

  it('and one reply searches at most 20 times', async () => {
    const talk = await Talk.start(service);
    const inputs = numbered(25).map((query, n) => ({ id: `call-${n}`, name: 'memory_search', input: { query } }));
    service.models.next(answers({ calls: inputs }), says('Found.'));
    const { body } = await talk.run('Search', of('ann'));
    expect(body.message?.toolCalls?.filter(({ status }) => status === 'failed')).toHaveLength(5);
  });

  it('and one reply saves at most 20', async () => {
    const talk = await Talk.start(service);
    const inputs = numbered(25).map((text, n) => ({ id: `call-${n}`, name: 'memory_save', input: { text } }));
    service.models.next(answers({ calls: inputs }), says('Noted.'));
    const { body } = await talk.run('Remember', of('ann'));
    expect(body.message?.toolCalls?.filter(({ status }) => status === 'failed')).toHaveLength(5);
    expect(await textsOf(service, talk, 'ann')).toHaveLength(20);
  });
});

describe('two processes at once', () => {
  let replica: TestService;
  beforeAll(async () => {
    replica = await service.replica();
  });
  afterAll(() => replica.close());

  /** Starts a run on each of many threads, alternating between the processes; each saves the result of `text`. */
  async function saveAtOnce(
    talk: Talk,
    count: number,
    userId: (n: number) => string,
    text: (n: number) => string,
  ): Promise<void> {
    service.models.always((exchange, wire) => {
      const [, user = '', index = '0'] = /say (\w+) (\d+)/.exec(JSON.stringify(exchange.request.body)) ?? [];
      if (wire.toolResults(exchange.request.body).length > 0) return says('Noted.')(exchange, wire);
      return answers({ calls: [{ id: `call_${user}`, name: 'memory_save', input: { text: text(Number(index)) } }] })(
        exchange,
        wire,
      );
    });
    const talks = await Promise.all(Array.from({ length: count }, () => talk.another()));
    const runs = talks.map((each, n) =>
      each.on(n % 2 === 0 ? service : replica).run(`say ${userId(n)} ${n}`, of(userId(n))),
    );
    for (const { status } of await Promise.all(runs)) expect(status).toBe(200);
  }

  it('keep the memories of two users apart', async () => {
    const talk = await Talk.start(service);
    await saveAtOnce(
      talk,
      12,
      (n) => (n % 3 === 0 ? 'ann' : 'bob'),
      (n) => `note${n} of ${n % 3 === 0 ? 'ann' : 'bob'} word${n}`,
    );
    const [ann, bob] = await Promise.all([textsOf(service, talk, 'ann'), textsOf(replica, talk, 'bob')]);
    expect([ann.length, bob.length]).toEqual([4, 8]);
    expect([ann.every((text) => text.includes('of ann')), bob.every((text) => text.includes('of bob'))]).toEqual([
      true,
      true,
    ]);
  });

  it('keep one memory of a text that both save', async () => {
    const talk = await Talk.start(service);
    await saveAtOnce(
      talk,
      8,
      () => 'ann',
      () => 'Likes green tea',
    );
    expect(await textsOf(service, talk, 'ann')).toEqual(['Likes green tea']);
  });

  it('never keep more than 500', async () => {
    const talk = await Talk.start(service);
    await fill(talk, 'ann', numbered(498), () => new Date(clock.now().getTime() - DAY));
    await saveAtOnce(
      talk,
      10,
      () => 'ann',
      (n) => `new${n} thing${n} word${n}`,
    );
    const kept = await textsOf(service, talk, 'ann');
    expect([kept.length, kept.filter((text) => text.startsWith('new')).length]).toEqual([500, 10]);
  });
});

clusterOnly('calls that wait for one user', () => {
  it('take one connection of each process and leave the others free', async () => {
    const talk = await Talk.start(service);
    await save(service, talk, 'ann', 'Likes tea');
    const [held, release] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const owner = {
      organizationId: talk.organization.id,
      agentId: talk.agentId,
      userKey: (await userKeyOf(talk, 'ann')) ?? '',
    };
    const holding = service.database.transaction(async (transaction) => {
      await service.app.get(MemoryRepository, { strict: false }).lock(transaction, owner);
      held.resolve(undefined);
      await release.promise;
    });
    await held.promise;
    const inputs = numbered(20).map((text, n) => ({ id: `call-${n}`, name: 'memory_save', input: { text } }));
    service.models.next(answers({ calls: inputs }), says('Noted.'));
    const running = talk.run('Remember', of('ann'));
    await until(
      async () =>
        (await service.database.query(`select 1 from pg_locks where locktype = 'advisory' and not granted`)).length > 0,
      'a save to wait',
    );
    const others = Array.from({ length: 20 }, () =>
      service.http('GET', `/v1/threads?assistant_id=${talk.agentId}`, { key: talk.key }),
    );
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual(others.map(() => 200));
    release.resolve(undefined);
    await holding;
    expect((await running).body.message?.toolCalls?.every(({ status }) => status === 'completed')).toBe(true);
    expect(await textsOf(service, talk, 'ann')).toHaveLength(21);
  });
});
