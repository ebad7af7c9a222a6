import { describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { type PromptVerdict, type RunContext, RunHooks } from '../../../src/conversations/index.js';
import { COUNT_ENTRIES } from '../../../src/credits/persistence/credit-periods.sql.js';
import { CreditPeriodRepository } from '../../../src/credits/persistence/credit-period.repository.js';
import { PurgeEntries } from '../../../src/credits/jobs/purge-entries.job.js';
import { monthOf, monthsBefore } from '../../../src/credits/domain/period.js';
import { newId } from '../../../src/platform/ids/index.js';
import { activeJob } from '../../support/job-site.js';
import { useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { endOrphan, disown } from '../../support/run-owners.js';
import { breaksOffAfter, calls, HeldReply, refuses } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';
import {
  breaksOffCosting,
  cancelAfterText,
  costing,
  costs,
  entries,
  type EntryView,
  periods,
  used,
} from './support.js';

@Injectable()
class BlocksPrompts extends RunHooks {
  override beforePrompt({ userMessage }: RunContext): Promise<PromptVerdict> {
    const blocked = userMessage?.text === 'Block this';
    return Promise.resolve(
      blocked ? { decision: 'block', reason: 'No.' } : { decision: 'continue', additionalContext: [] },
    );
  }
}

@Module({ providers: [BlocksPrompts], exports: [BlocksPrompts] })
class BlocksPromptsModule {}

const clock = new ManualClock('2026-11-10T12:00:00.000Z');
const service = useService({ clock, extensions: { imports: [BlocksPromptsModule], hooks: [BlocksPrompts] } });

async function entriesOf({ key }: Talk, query = ''): Promise<readonly EntryView[]> {
  return (await entries(service, key, query)).body.entries;
}

/** Runs once at a cost. @returns the usage that the run shows */
async function spend(talk: Talk, tenths: number): Promise<number | null | undefined> {
  service.models.next(costs(tenths));
  return (await talk.run('Hi')).body.run.usage['credits'];
}

function uncounted(): Promise<unknown[]> {
  return service.database.query('select id from credit_entries where not counted');
}

async function countAll(): Promise<void> {
  const repository = service.app.get(CreditPeriodRepository);
  while ((await uncounted()).length > 0) await Promise.all([repository.countSome(1), repository.countSome(2)]);
}

/** One second before the month ends. */
function toEndOfMonth(): void {
  const now = clock.now();
  clock.jump(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - 1_000 - now.getTime());
}

function iso(year: number, month: number): string {
  return new Date(Date.UTC(year, month)).toISOString();
}

describe('a run has an entry', () => {
  it.each([
    ['anthropic', 0.36],
    ['openai-responses', 0.36],
    ['gemini', 0.135],
  ])(
    'at the rates of %s for what was cached, thought and the rest, as the run and the month say',
    async (type, credits) => {
      const talk = await Talk.start(service, { provider: { type } });
      service.models.next(costing({ input: 1200, output: 300, cached: 1000, thinking: 200 }));
      const { body } = await talk.run('Hi');

      const [entry] = await entriesOf(talk);

      const usage = { inputTokens: 1200, outputTokens: 300, cachedInputTokens: 1000, credits };
      expect(body.run.usage).toEqual({ ...usage, totalTokens: 1500 });
      expect(entry).toEqual({
        id: body.run.id,
        createdAt: (body.run as unknown as { completedAt: string }).completedAt,
        assistant_id: talk.agentId,
        thread_id: talk.threadId,
        runId: body.run.id,
        provider: type,
        model: expect.any(String),
        ...usage,
      });
      expect(await used(service, talk.key)).toBe(credits);
    },
  );

  it('that costs nothing on a key of the agent’s own', async () => {
    const talk = await Talk.start(service, { provider: { type: 'anthropic', useOwnApiKey: true, apiKey: 'own-key' } });
    expect(await spend(talk, 10)).toBe(0);
    expect(await entriesOf(talk)).toMatchObject([{ outputTokens: 1000, credits: 0 }]);
    expect(await used(service, talk.key)).toBe(0);
  });

  it('with 0 tokens when no model was called, and null when the model did not report them', async () => {
    const talk = await Talk.start(service);
    await talk.run('Block this');
    service.models.next(refuses(400));
    await talk.run('Fail');
    const [failed, blocked] = await entriesOf(talk);
    expect(blocked).toMatchObject({ inputTokens: 0, outputTokens: 0, credits: 0 });
    expect(failed).toMatchObject({ inputTokens: null, outputTokens: null, credits: 0 });
  });

  it('with its input when it was cancelled after its text, the same as the run and its trace show', async () => {
    const talk = await Talk.start(service);
    await cancelAfterText(service, talk, 1200);
    const reported = { inputTokens: 1200, outputTokens: null, credits: 0.24 };
    expect(await entriesOf(talk)).toMatchObject([reported]);
    const { steps, ...trace } = await talk.trace();
    expect(trace).toMatchObject({ status: 'cancelled', usage: { ...reported, totalTokens: null } });
    expect(steps).toMatchObject([{ type: 'model', usage: { inputTokens: 1200, outputTokens: null } }]);
    expect(await used(service, talk.key)).toBe(0.24);
  });

  it('with its input when the connection of the provider breaks during the response', async () => {
    const talk = await Talk.start(service);
    service.models.next(breaksOffCosting({ input: 1200, output: 5, cached: 1000 }));
    expect((await talk.run('Hi')).status).toBe(502);
    expect(await entriesOf(talk)).toMatchObject([{ inputTokens: 1200, outputTokens: null, credits: 0.06 }]);
  });

  it.each([-1, 0.5, 1e18])('with unknown tokens when the provider reported %s of them', async (absurd) => {
    const talk = await Talk.start(service);
    service.models.next(costing({ input: absurd, output: absurd }));
    const { status, body } = await talk.run('Hi');
    const unknown = { inputTokens: null, outputTokens: null, credits: 0 };
    expect([status, body.run]).toMatchObject([200, { status: 'completed', usage: unknown }]);
    expect(await entriesOf(talk)).toMatchObject([unknown]);
  });

  it('with the cost of its earlier calls and the reported part of the last one, when that breaks', async () => {
    const talk = await Talk.start(service);
    service.models.next(calls('unknown_tool'), breaksOffAfter('Half'));
    await talk.run('Hi');
    expect(await entriesOf(talk)).toMatchObject([{ inputTokens: 2, outputTokens: null, credits: 0.0014 }]);
  });

  it('once, when its process counted as dead and still ended the run', async () => {
    const talk = await Talk.start(service);
    const held = new HeldReply(['Half']);
    service.models.next(held.script);
    const answered = talk.run('Hi');
    await held.asked;
    await disown(service, talk);
    await endOrphan(service, talk);
    held.finish();
    await answered;
    expect(await entriesOf(talk)).toMatchObject([{ inputTokens: null, outputTokens: null, credits: 0 }]);
  });

  it('that stays when the thread and the agent are deleted, and is deleted with the organization', async () => {
    const talk = await Talk.start(service);
    await spend(talk, 1);
    await countAll();
    await service.http('DELETE', talk.path, { key: talk.key });
    await service.http('DELETE', `/v1/agents/${talk.agentId}`, { key: talk.key });
    expect(await entriesOf(talk)).toMatchObject([{ thread_id: talk.threadId, credits: 0.1 }]);
    expect(await used(service, talk.key)).toBe(0.1);

    const { id } = talk.organization;
    await service.database.query('delete from agents where organization_id = $1', [id]);
    await service.database.query('delete from organizations where id = $1', [id]);
    const left = `select id from credit_entries where organization_id = $1
      union all select organization_id from credit_periods where organization_id = $1`;
    expect(await service.database.query(left, [id])).toEqual([]);
  });
});

describe('the sum of a month', () => {
  it('is exact before, during and after the counting of its entries, also by two processes at once', async () => {
    const talk = await Talk.start(service);
    // The sum of these floating-point numbers is 0.7999999999999999.
    for (const tenths of [1, 7]) await spend(talk, tenths);
    const counting = service.app.get(CreditPeriodRepository);
    const sums = [await used(service, talk.key)];
    await counting.countSome(1);
    sums.push(await used(service, talk.key));
    await countAll();
    sums.push(await used(service, talk.key));
    await countAll();
    await spend(talk, 2);
    sums.push(await used(service, talk.key));
    expect(sums).toEqual([0.8, 0.8, 0.8, 1]);
  });

  it('is unchanged when counting was interrupted', async () => {
    const talk = await Talk.start(service);
    await spend(talk, 3);
    const cutOff = service.database.transaction(async (transaction) => {
      await COUNT_ENTRIES.run(transaction, { limit: 500 });
      throw new Error('killed');
    });
    await expect(cutOff).rejects.toThrow('killed');
    expect(await used(service, talk.key)).toBe(0.3);
    await countAll();
    expect(await used(service, talk.key)).toBe(0.3);
  });
});

describe('periods', () => {
  it('are the months since the organization was created, in UTC, with their included credits; a run belongs to the month of its end', async () => {
    toEndOfMonth();
    const first = clock.now();
    const [year, month] = [first.getUTCFullYear(), first.getUTCMonth()];
    const talk = await Talk.start(service, {}, '--credits', '100');
    await spend(talk, 1);
    const held = new HeldReply(['Half']);
    service.models.next(held.script);
    const answered = talk.run('Over the end');
    await held.asked;
    clock.jump(2_000);
    held.finish();
    await answered;
    await service.cli('org', 'set', talk.organization.id, '--credits', '200');
    await countAll();
    toEndOfMonth();
    clock.jump(2_000);
    await service.cli('org', 'set', talk.organization.id, '--credits', 'none');

    const { body } = await periods(service, talk.key);

    expect(body).toEqual({
      periods: [
        {
          id: expect.any(String),
          startsAt: iso(year, month + 2),
          endsAt: iso(year, month + 3),
          creditsUsed: 0,
          creditsIncluded: null,
        },
        {
          id: expect.any(String),
          startsAt: iso(year, month + 1),
          endsAt: iso(year, month + 2),
          creditsUsed: 0.0012,
          creditsIncluded: 200,
        },
        {
          id: expect.any(String),
          startsAt: iso(year, month),
          endsAt: iso(year, month + 1),
          creditsUsed: 0.1,
          creditsIncluded: 100,
        },
      ],
      nextCursor: null,
    });
    const [, second, oldest] = body.periods;
    expect(await entriesOf(talk, `?periodId=${second?.id ?? ''}`)).toMatchObject([{ credits: 0.0012 }]);
    expect(await entriesOf(talk, `?periodId=${(oldest?.id ?? '').toUpperCase()}`)).toMatchObject([{ credits: 0.1 }]);
  });

  it('are listed page by page, each once, with the same ids each time', async () => {
    const { key } = await service.organization();
    for (let month = 0; month < 13; month += 1) {
      toEndOfMonth();
      clock.jump(2_000);
    }
    const all = await periods(service, key, '?limit=24');
    expect(all.body.periods).toHaveLength(14);
    const first = await periods(service, key);
    expect(first.body.periods).toEqual(all.body.periods.slice(0, 12));
    const second = await periods(service, key, `?cursor=${first.body.nextCursor ?? ''}`);
    expect(second.body).toEqual({ periods: all.body.periods.slice(12), nextCursor: null });
  });
});

describe('the lists', () => {
  it('show entries newest first, page by page, each once, also while further entries are added', async () => {
    const talk = await Talk.start(service);
    for (const tenths of [1, 2, 3, 4]) {
      await spend(talk, tenths);
      // Two within one millisecond.
      if (tenths % 2 === 0) clock.jump(1);
    }
    const seen: number[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Awaited<ReturnType<typeof entries>> = await entries(
        service,
        talk.key,
        `?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...page.body.entries.map(({ credits }) => credits));
      cursor = page.body.nextCursor;
      clock.jump(1);
      await spend(talk, 9);
    }
    expect(seen).toEqual([0.4, 0.3, 0.2, 0.1]);
  });

  it('refuse a cursor that is invented, of another organization, of the other list and of another period', async () => {
    const [talk, other] = [await Talk.start(service), await Talk.start(service)];
    for (const tenths of [1, 2]) await spend(talk, tenths);
    const period = (await periods(service, talk.key)).body.periods[0]?.id ?? '';
    const plain = (await entries(service, talk.key, '?limit=1')).body.nextCursor ?? '';
    const ofPeriod = (await entries(service, talk.key, `?limit=1&periodId=${period}`)).body.nextCursor ?? '';

    const tries = [
      entries(service, talk.key, `?cursor=${plain}`),
      entries(service, talk.key, `?cursor=${ofPeriod}&periodId=${period}`),
      entries(service, talk.key, '?cursor=x'),
      entries(service, other.key, `?cursor=${plain}`),
      periods(service, talk.key, `?cursor=${plain}`),
      entries(service, talk.key, `?cursor=${plain}&periodId=${period}`),
      entries(service, talk.key, `?cursor=${ofPeriod}&periodId=${newId()}`),
      entries(service, talk.key, `?cursor=${ofPeriod}`),
    ];
    expect((await Promise.all(tries)).map(({ status }) => status)).toEqual([200, 200, 400, 400, 400, 400, 400, 400]);
  });

  it('show nothing of another organization, whose periods count as absent', async () => {
    const [talk, other] = [await Talk.start(service), await Talk.start(service)];
    await spend(talk, 1);
    const period = (await periods(service, talk.key)).body.periods[0]?.id ?? '';
    for (const id of [period, newId()]) {
      expect((await entries(service, other.key, `?periodId=${id}`)).body).toEqual({ entries: [], nextCursor: null });
    }
    expect([await used(service, other.key), await entriesOf(other)]).toEqual([0, []]);
  });

  it('are refused to a key with an allowlist, and shown to any other key', async () => {
    const talk = await Talk.start(service);
    const scoped = await talk.organization.keyWith(['chat'], [talk.agentId]);
    const plain = await talk.organization.keyWith(['chat']);
    for (const list of [periods, entries]) {
      const refused = await list(service, scoped.key);
      expect([refused.status, refused.body]).toMatchObject([403, { code: 'forbidden_org_endpoint_for_scoped_key' }]);
      expect((await list(service, plain.key)).status).toBe(200);
    }
  });

  it.each([
    ['periods', 'limit=0'],
    ['periods', 'limit=25'],
    ['periods', 'periodId=01a1fd52-ba28-712d-ac80-1796bc3828ed'],
    ['entries', 'limit=0'],
    ['entries', 'limit=1001'],
    ['entries', 'limit=x'],
    ['entries', 'periodId=november'],
  ])('of %s refuse ?%s', async (list, query) => {
    const { key } = await service.organization();
    const { status, body } = await service.http('GET', `/v1/credits/usage/${list}?${query}`, { key });
    expect([status, body['code']]).toEqual([400, 'FST_ERR_VALIDATION']);
  });
});

describe('entries', () => {
  it('are listed for 24 months, and the sums of months for ever', async () => {
    const talk = await Talk.start(service);
    const month = monthOf(clock.now());
    const jumpTo = (months: number) => {
      clock.jump(monthsBefore(month, -months).getTime() + 3_600_000 - clock.now().getTime());
    };
    await spend(talk, 7);
    const purge = () => service.app.get(PurgeEntries).process(activeJob({}));
    await countAll();
    jumpTo(24);
    await purge();
    expect((await entriesOf(talk)).length).toBe(1);
    jumpTo(25);
    await service.database.query('update credit_entries set counted = false where organization_id = $1', [
      talk.organization.id,
    ]);
    await purge();
    // In no sum yet, as far as the job knows.
    expect((await entriesOf(talk)).length).toBe(1);
    await service.database.query('update credit_entries set counted = true where organization_id = $1', [
      talk.organization.id,
    ]);
    await purge();
    expect(await entriesOf(talk)).toEqual([]);
    const { body } = await periods(service, talk.key, '?limit=24');
    const { body: older } = await periods(service, talk.key, `?limit=24&cursor=${body.nextCursor ?? ''}`);
    const used = [...body.periods, ...older.periods].filter(({ creditsUsed }) => creditsUsed > 0);
    expect(used).toMatchObject([{ startsAt: month.toISOString(), creditsUsed: 0.7 }]);
  });
});
