import { describe, expect, it } from '@jest/globals';
import { SHARE_AFTER_CUT } from '../../../src/conversations/engine/limits.js';
import { approve, NotingTool } from '../../support/approvals.js';
import { useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { AGENT_WIRES, anthropicWire } from '../../support/provider-wire.js';
import { answers, calls, type ModelScript, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { sentResults } from '../../support/sent-media.js';
import { Talk } from '../../support/talk.js';

const service = useService({ clock: new ManualClock(), extensions: scriptedRuns });

const NOTE = /\[\d+ characters of this output are left out here: [^\]]*\]/;
const PROSE = 'it rains in oslo and no one minds ';

const prose = (characters: number): string => PROSE.repeat(Math.ceil(characters / PROSE.length)).slice(0, characters);

const refuseAsTooLong: ModelScript = (exchange, wire) => {
  exchange.refuse(wire.contextTooLong.status, wire.contextTooLong.body);
};

/** Runs the script, but refuses requests with more characters as too long. */
function reads(characters: number, script: ModelScript): ModelScript {
  return (exchange, wire) => {
    const tooLong = JSON.stringify(exchange.request.body).length > characters;
    return (tooLong ? refuseAsTooLong : script)(exchange, wire);
  };
}

function lastBody(): Readonly<Record<string, unknown>> {
  return service.models.requests.at(-1)?.body ?? {};
}

describe.each(AGENT_WIRES)('a tool with a long output on $provider', (wire) => {
  const agent = { provider: { type: wire.provider, model: wire.model } };
  const lastResults = (): string[] => wire.toolResults(lastBody()).map(({ output: text }) => text);

  it('never fails the run: one result of 900 kB is shortened until the model takes it, and clients see all of it', async () => {
    const said = `Begins. ${prose(900_000)} Ends.`;
    const talk = await Talk.start(service, agent);
    during(talk.threadId, { tools: [tool('dump', () => output(said))] });
    service.models.next(says('Hello.'));
    await talk.run('An earlier question');
    service.models.next(calls('dump'));
    service.models.always(reads(120_000, says('I have read it.')));

    expect(await talk.run('Read it')).toMatchObject({
      status: 200,
      body: { run: { status: 'completed' }, message: { content: 'I have read it.' } },
    });

    const [read = ''] = lastResults();
    expect(read).toMatch(NOTE);
    expect(read).toMatch(/^Begins\. it rains[^]* Ends\.$/);
    expect(read.length).toBeGreaterThan(20_000);
    expect((await talk.messages()).at(-1)?.toolCalls?.[0]?.output).toBe(said);

    expect(await talk.run('And what else?')).toMatchObject({ status: 200 });
    expect(lastResults()).toEqual([read]);
  });

  it('never fails the run: of fourteen results of 60 kB the newest stay, and shortened ones stay short', async () => {
    const talk = await Talk.start(service, agent);
    let page = 0;
    during(talk.threadId, { tools: [tool('read', () => output(`Page ${(page += 1)}. ${prose(60_000)}`))] });
    let asked = 0;
    const readsOn: ModelScript = (exchange, spoken) => {
      asked += 1;
      return (asked > 14 ? says('Done.') : calls('read', { page: asked }, `call-${asked}`))(exchange, spoken);
    };
    service.models.always(reads(400_000, readsOn));

    expect(await talk.run('Read all')).toMatchObject({
      status: 200,
      body: { run: { status: 'completed' }, message: { content: 'Done.' } },
    });

    const results = lastResults();
    expect(results).toHaveLength(14);
    expect(results.at(-1)).toBe(`Page 14. ${prose(60_000)}`);
    expect(results[0]).toMatch(NOTE);
    const refused = service.models.requests.filter(({ body }) => JSON.stringify(body).length > 400_000);
    expect(refused.length).toBeLessThanOrEqual(4);
    const stored = (await talk.messages()).at(-1)?.toolCalls?.map((call) => call.output?.length);
    expect(Math.min(...(stored ?? []).map((length) => length ?? 0))).toBeGreaterThan(60_000);
  });

  it('fails the run only when the model refuses the question with notes instead of all results', async () => {
    const talk = await Talk.start(service, agent);
    during(talk.threadId, { tools: [tool('dump', () => output(prose(200_000)))] });
    service.models.next(answers({ calls: ['a', 'b', 'c'].map((id) => ({ id, name: 'dump' })) }));
    service.models.always(refuseAsTooLong);

    const answer = await talk.run('Read it');

    expect([answer.status, Object.keys(answer.body).sort()]).toEqual([422, ['error', 'message']]);
    for (const text of lastResults()) expect(text).toMatch(new RegExp(`^${NOTE.source}$`));
    expect(service.models.requests.length).toBeLessThan(20);
    expect((await talk.messages()).at(-1)?.toolCalls?.map(({ status }) => status)).toEqual([
      'completed',
      'completed',
      'completed',
    ]);
  });

  it('is shortened in a resumed run too', async () => {
    const talk = await Talk.start(service, { ...agent, tools: { requireApprovalForResourceChanges: true } });
    during(talk.threadId, {
      tools: [tool('dump', () => output(prose(300_000)), 'read_only'), new NotingTool('pay').offered],
    });
    service.models.next(
      answers({
        calls: [
          { id: 'd', name: 'dump' },
          { id: 'p', name: 'pay' },
        ],
      }),
    );
    const asked = await talk.run('Read it, then pay');
    service.models.always(reads(120_000, says('Paid.')));

    expect(await talk.resume(...asked.body.interrupts.map(approve))).toMatchObject({
      status: 200,
      body: { message: { content: 'Paid.' } },
    });

    expect(lastResults()[0]).toMatch(NOTE);
    expect(lastResults()[1]).not.toMatch(NOTE);
  });
});

describe('the share of tool results in the context', () => {
  it.each([
    ['a model that reads 200,000 tokens', 'claude-haiku-4-5', 150_000],
    ['a model that reads 1,000,000', 'claude-sonnet-5-5', 600_000],
  ])('is a share of the context window: %s', async (_what, model, characters) => {
    const talk = await Talk.start(service, { provider: { type: 'anthropic', model } });
    during(talk.threadId, { tools: [tool('dump', () => output(prose(600_000)))] });
    service.models.next(calls('dump'), says('Read.'));

    expect(await talk.run('Read it')).toMatchObject({ body: { run: { status: 'completed' } } });

    expect(service.models.requests).toHaveLength(2);
    const [read] = anthropicWire.toolResults(lastBody());
    expect(read?.output.length).toBeGreaterThan(characters - 2_000);
    expect(read?.output.length).toBeLessThanOrEqual(characters + 200);
  });

  it('is half for all of them: the oldest are shortened before the provider would refuse', async () => {
    const talk = await Talk.start(service, { provider: { type: 'anthropic', model: 'claude-haiku-4-5' } });
    during(talk.threadId, { tools: [tool('dump', () => output(prose(120_000)))] });
    service.models.next(...['a', 'b', 'c', 'd'].map((id) => calls('dump', { id }, id)), says('Read.'));

    expect(await talk.run('Read it')).toMatchObject({ body: { run: { status: 'completed' } } });

    const results = anthropicWire.toolResults(lastBody()).map(({ output: text }) => text);
    const characters = results.reduce((sum, text) => sum + text.length, 0);
    expect(characters).toBeLessThan(301_000);
    expect(characters).toBeGreaterThan(300_000 * SHARE_AFTER_CUT - 2_000);
    expect(results.at(-1)).toBe(prose(120_000));
  });

  it('is fewer characters for text with a token a character', async () => {
    const talk = await Talk.start(service, { provider: { type: 'anthropic', model: 'claude-haiku-4-5' } });
    during(talk.threadId, { tools: [tool('dump', () => output('雨'.repeat(200_000)))] });
    service.models.next(calls('dump'), says('Read.'));
    await talk.run('Read it');
    expect(anthropicWire.toolResults(lastBody())[0]?.output.length).toBeLessThan(50_200);
  });

  it('is reduced before media are removed, so that the model sees media beside a shortened text', async () => {
    const talk = await Talk.start(service);
    const media = [{ kind: 'image', name: 'chart.png', mediaType: 'image/png', data: 'iVBORw0KGgo=' }] as const;
    during(talk.threadId, {
      tools: [tool('show', () => Promise.resolve({ output: prose(600_000), isError: false, media }))],
    });
    service.models.next(calls('show'), refuseAsTooLong, says('I see it.'));

    expect(await talk.run('Show it')).toMatchObject({ body: { message: { content: 'I see it.' } } });

    expect(sentResults(lastBody())).toMatchObject([
      { text: expect.stringMatching(NOTE), media: [{ mediaType: 'image/png' }] },
    ]);
  });
});
