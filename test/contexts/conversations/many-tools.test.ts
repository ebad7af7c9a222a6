import { describe, expect, it } from '@jest/globals';
import { approve, ASKS_ALWAYS, NotingTool } from '../../support/approvals.js';
import { useService } from '../../support/harness.js';
import { AGENT_WIRES, anthropicWire } from '../../support/provider-wire.js';
import { answers, calls, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { Talk } from '../../support/talk.js';
import { catalogueOf } from '../../support/tool-catalogue.js';

const service = useService({ extensions: scriptedRuns });

const WANTED = 'mcp__billing__create_report';
/** The limit for the definitions of listed tools: 10% of the model's 600,000 characters. */
const LISTED_CHARACTERS = 60_000;

/** The names of the tools in each request to the provider. */
function sentTools(): string[][] {
  return service.models.requests.map(({ body }) => sentToolNames(body));
}

function results(): { id: string; output: unknown; isError: boolean }[] {
  return anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {});
}

function lastResult(): string {
  return String(results().at(-1)?.output);
}

describe.each(AGENT_WIRES)('an agent with 400 tools on $provider', (wire) => {
  const agent = { provider: { type: wire.provider, model: wire.model } };
  const script = [
    calls('find_tools', { query: 'create a billing report' }),
    calls(WANTED, { workspace: 'w', title: 'May' }),
    says('Done.'),
  ];

  /** The characters of all requests in a run that searches, calls and answers. */
  async function sentBy(searchable: boolean): Promise<number> {
    const talk = await Talk.start(service, agent);
    during(talk.threadId, {
      tools: [...catalogueOf(400, searchable), ...(searchable ? [] : [tool('find_tools', () => output('none'))])],
    });
    service.models.reset();
    service.models.next(...script);
    const { status, body } = await talk.run('Create the report for May');
    expect([status, body.message?.content]).toEqual([200, 'Done.']);
    expect(body.message?.toolCalls?.at(-1)).toMatchObject({
      name: WANTED,
      status: 'completed',
      output: expect.stringContaining('May'),
    });
    expect(service.models.requests).toHaveLength(3);
    return service.models.requests.reduce((sum, request) => sum + JSON.stringify(request.body).length, 0);
  }

  it('sends the model less than 15% of all definitions: those it has found, which it can call', async () => {
    const all = await sentBy(false);
    for (const names of sentTools()) expect(names).toHaveLength(401);

    const few = await sentBy(true);

    const [first, second, third] = sentTools();
    expect(first).toEqual(['find_tools']);
    expect(second).toContain(WANTED);
    expect(second?.length).toBeLessThanOrEqual(9);
    expect(third).toEqual(second);
    expect(few / all).toBeLessThan(0.15);
  });
});

describe('tools that are too many to be listed', () => {
  it('are described by number and kind, beside the tools that are not searchable', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, { tools: [tool('own', () => output('x')), ...catalogueOf(41)] });
    service.models.next(says('Hi.'));

    await talk.run('Hi');

    expect(sentTools()).toEqual([['own', 'find_tools']]);
    const sent = service.models.requests[0]?.body['tools'] as { description: string }[];
    const description = sent[1]?.description;
    expect(description).toContain('41 more');
    expect(description).toContain('mcp__code_host__ (5), mcp__tickets__ (4)');
  });

  it.each<[string, ReturnType<typeof catalogueOf>, boolean]>([
    ['40 of them are', catalogueOf(40), false],
    ['41 of them are not', catalogueOf(41), true],
    ['2 with definitions of less than 10% of the context are', large(LISTED_CHARACTERS / 2 - 500), false],
    ['2 with definitions of more are not', large(LISTED_CHARACTERS / 2), true],
    ['41 that are not searchable are', catalogueOf(41, false), false],
  ])('are searched above the limit: %s listed', async (_what, tools, searched) => {
    const talk = await Talk.start(service);
    during(talk.threadId, { tools });
    service.models.next(says('Hi.'));
    await talk.run('Hi');
    expect(sentTools()).toEqual([searched ? ['find_tools'] : tools.map(({ definition }) => definition.name)]);
  });

  it('can be searched without approval, and called with approval', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    during(talk.threadId, { tools: catalogueOf(400) });
    service.models.next(
      calls('find_tools', { query: 'create report billing' }),
      calls(WANTED, { title: 'May' }),
      says('Done.'),
    );

    const { body } = await talk.run('Go');
    expect(body).toMatchObject({ run: { status: 'requires_action' }, interrupts: [{ metadata: { tool: WANTED } }] });
    const resumed = await talk.resume(...body.interrupts.map(approve));

    expect(resumed.body.message).toMatchObject({
      content: 'Done.',
      toolCalls: [{ name: WANTED, status: 'completed' }],
    });
    const [, second, third] = sentTools();
    expect([...(third ?? [])].sort()).toEqual([...(second ?? [])].sort());
  });

  it('are listed again in a run that resumes with approved or declined calls', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    const pay = new NotingTool('mcp__shop__pay');
    during(talk.threadId, { tools: [...catalogueOf(400), { ...pay.offered, searchable: true }] });
    service.models.next(
      answers({
        calls: [
          { id: 'p', name: 'mcp__shop__pay' },
          { id: 'q', name: 'mcp__mail__list_member' },
        ],
      }),
      says('Done.'),
    );

    const { body } = await talk.run('Pay');
    const [first, second] = body.interrupts;
    if (!first || !second) throw new Error('two interrupts');
    await talk.resume(approve(first), { interruptId: second.id, status: 'cancelled' });

    expect(pay.inputs).toHaveLength(1);
    expect(sentTools().at(-1)).toEqual(['find_tools', 'mcp__shop__pay', 'mcp__mail__list_member']);
  });

  it('can be called by a name from an earlier run, and are then listed', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, { tools: catalogueOf(400) });
    service.models.next(calls(WANTED, { title: 'May' }), says('Done.'));
    const { body } = await talk.run('Go');
    expect(body.message?.toolCalls).toMatchObject([{ name: WANTED, status: 'completed' }]);
    expect(sentTools()).toEqual([['find_tools'], ['find_tools', WANTED]]);
  });

  it('are named in part when the model calls an unknown tool', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, { tools: [tool('own', () => output('x')), ...catalogueOf(400)] });
    service.models.next(calls('invented'), says('Done.'));
    await talk.run('Go');
    expect(lastResult()).toContain('no tool named invented');
    expect(lastResult()).toContain('own, find_tools and 400 more, to be found with find_tools');
    expect(lastResult().length).toBeLessThan(300);
  });

  it('are named in part when all are listed too', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, { tools: catalogueOf(400, false) });
    service.models.next(calls('invented'), says('Done.'));
    await talk.run('Go');
    expect(lastResult()).toContain('and 380 more');
    expect(lastResult()).not.toContain('find_tools');
    expect(lastResult().length).toBeLessThan(2_000);
  });
});

describe('a search for tools', () => {
  async function search(input: object, tools = catalogueOf(400)): Promise<{ found: string[]; text: string }> {
    const talk = await Talk.start(service);
    during(talk.threadId, { tools });
    service.models.next(calls('find_tools', input), says('Done.'));
    expect((await talk.run('Go')).body.message?.toolCalls).toMatchObject([{ name: 'find_tools' }]);
    return { found: (sentTools().at(-1) ?? []).slice(1), text: lastResult() };
  }

  it('without a match says so, and names some tools', async () => {
    const { found, text } = await search({ query: 'xyzzy '.repeat(100) });
    expect(found).toEqual([]);
    expect(text).toContain('No tool matches');
    expect(text).toContain('mcp__');
    expect(text.length).toBeLessThan(1_000);
  });

  it.each([
    [{ query: '' }, false],
    [{ query: 5 }, true],
    [{}, true],
  ])('with the input %j gets a result', async (input, isError) => {
    expect((await search(input)).found).toEqual([]);
    expect(results().at(-1)).toMatchObject({ isError });
  });

  it('returns few tools with short texts, for descriptions of any length', async () => {
    const wordy = catalogueOf(400).map((one) => ({
      ...one,
      definition: { ...one.definition, description: 'report '.repeat(3_000) },
    }));
    const { found, text } = await search({ query: 'report' }, wordy);
    expect(found).toHaveLength(8);
    for (const name of found) expect(text).toContain(`- ${name}: report`);
    expect(text.length).toBeLessThan(10_000);
  });

  it('adds to the tools found before', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, { tools: catalogueOf(400) });
    const both = [
      { id: 'a', name: 'find_tools', input: { query: 'payroll schedule' } },
      { id: 'b', name: 'find_tools', input: { query: 'mail member' } },
    ];
    service.models.next(answers({ calls: both }), calls('find_tools', { query: 'crm' }), says('Done.'));
    await talk.run('Go');
    const [, second, third] = sentTools();
    expect(second?.filter((name) => /payroll|mail/.test(name))).toHaveLength(16);
    expect(third?.slice(0, second?.length)).toEqual(second);
    expect(third).toHaveLength(25);
  });
});

describe('the tools that were found', () => {
  const MAX_OFFERED = 40;
  const MAX_CHARACTERS = 200_000;

  /** Scripts a search for each query. */
  const searches = (...queries: string[]) =>
    queries.map((query, index) => calls('find_tools', { query }, `search-${index}`));

  it('are at most 40 in a request: the least recently found or called are dropped first', async () => {
    const talk = await Talk.start(service);
    during(talk.threadId, { tools: catalogueOf(400) });
    const queries = ['crm', 'billing', 'calendar', 'mail', 'files'];
    const used = calls('mcp__crm__list_report', { workspace: 'w' }, 'use');
    service.models.next(
      ...searches(...queries),
      used,
      calls('find_tools', { query: 'analytics' }, 'late'),
      says('Done.'),
    );

    expect((await talk.run('Go')).body.run.status).toBe('completed');

    const sent = sentTools();
    for (const names of sent) expect(names.length).toBeLessThanOrEqual(1 + MAX_OFFERED);
    const last = sent.at(-1) ?? [];
    expect(last).toHaveLength(1 + MAX_OFFERED);
    expect(last).toContain('mcp__crm__list_report');
    expect(last.filter((name) => name.startsWith('mcp__crm__'))).toHaveLength(1);
    expect(last.filter((name) => name.startsWith('mcp__billing__'))).toHaveLength(7);
    expect(last.filter((name) => name.startsWith('mcp__analytics__'))).toHaveLength(8);
  });

  it('take at most 200,000 characters of a request; a search returns those for which there is room, the best first', async () => {
    const talk = await Talk.start(service);
    const wordy = catalogueOf(80).map((one) => ({
      ...one,
      definition: { ...one.definition, inputSchema: schemaOf(60_000) },
    }));
    during(talk.threadId, { tools: wordy });
    service.models.next(...searches('crm', 'create billing record'), says('Done.'));

    expect((await talk.run('Go')).body.run.status).toBe('completed');

    for (const { body } of service.models.requests)
      expect(JSON.stringify(body['tools']).length).toBeLessThan(MAX_CHARACTERS + 10_000);
    const [first, second] = sentTools().slice(1);
    expect([first?.length, second?.length]).toEqual([4, 4]);
    expect(second).toContain('mcp__billing__create_record');
    for (const name of (second ?? []).slice(1)) expect(lastResult()).toContain(`- ${name}:`);
    expect(lastResult().match(/^- /gmu)).toHaveLength(3);
  });

  it.each([true, false])(
    'get a plain object schema when their schema is too large, as listed tools do (searched for: %s)',
    async (isSearched) => {
      const talk = await Talk.start(service);
      const [first, ...others] = catalogueOf(isSearched ? 41 : 4);
      const tools = [first, ...others].flatMap((one) =>
        one ? [{ ...one, definition: { ...one.definition, inputSchema: schemaOf(245_000) } }] : [],
      );
      during(talk.threadId, { tools });
      service.models.next(
        ...(isSearched ? searches('create code_host') : []),
        calls('mcp__code_host__create_record', { title: 'May' }),
        says('Done.'),
      );

      expect((await talk.run('Go')).body.message?.toolCalls?.at(-1)).toMatchObject({
        name: 'mcp__code_host__create_record',
        status: 'completed',
        output: expect.stringContaining('May'),
      });

      const sent = service.models.requests.at(-1)?.body['tools'] as {
        name: string;
        description: string;
        input_schema: object;
      }[];
      const large = sent.filter(({ name }) => name !== 'find_tools');
      expect(large.length).toBeGreaterThanOrEqual(4);
      for (const { description, input_schema } of large) {
        expect(input_schema).toEqual({ type: 'object', properties: {} });
        expect(description).toContain('arguments are not listed');
      }
    },
  );
});

/** A schema with so many characters. */
function schemaOf(characters: number): Record<string, unknown> {
  return { type: 'object', properties: { title: { type: 'string', description: 'x'.repeat(characters) } } };
}

/** Two searchable tools with definitions of so many characters. */
function large(characters: number): ReturnType<typeof catalogueOf> {
  return catalogueOf(2).map((one) => {
    const short = { ...one.definition, description: '' };
    return {
      ...one,
      definition: { ...short, description: 'x'.repeat(Math.max(0, characters - JSON.stringify(short).length + 1)) },
    };
  });
}
