import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { DocumentIndex } from '../../../src/knowledge/index/application/indexing/document-index.js';
import { SearchKnowledge } from '../../../src/knowledge/index/application/search/search-knowledge.js';
import { until, useService } from '../../support/harness.js';
import { addFile, filesPath, learn, searchKnowledge, settledFiles } from '../../support/knowledge.js';
import { AGENT_WIRES, anthropicWire } from '../../support/provider-wire.js';
import { calls, says } from '../../support/scripted-models.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { Talk } from '../../support/talk.js';

const service = useService();
afterEach(() => {
  jest.restoreAllMocks();
});

const offered = (): string[] => sentToolNames(service.models.requests[0]?.body ?? {});
const asks = (input: object) => calls('knowledge_search', input);

/** Starts a run in a new thread in which the model searches. @returns the answer that the model read */
async function searches(
  agent: Talk,
  input: object,
  more: Readonly<Record<string, unknown>> = {},
): Promise<{ output: string; isError: boolean }> {
  service.models.reset();
  service.models.next(asks(input), says('Done.'));
  const talk = await agent.another();
  const { status, body } = await talk.run('Look', more);
  expect([status, body.run.status]).toEqual([200, 'completed']);
  const [result] = anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {});
  if (!result) throw new Error('The model read no result');
  return result;
}

/** Waits until runs have the added or removed knowledge. */
async function untilOffered(talk: Talk, expected: boolean): Promise<void> {
  await until(
    async () => {
      service.models.reset();
      service.models.always(says('Hello.'));
      await talk.run('Hello');
      return offered().includes('knowledge_search') === expected;
    },
    `the tool to be ${expected ? 'offered' : 'gone'}`,
  );
}

describe.each(AGENT_WIRES)('an agent on $provider', (wire) => {
  const agent = { provider: { type: wire.provider, model: wire.model } };

  it('is offered a search once it has knowledge, and reads the results as numbered quotations', async () => {
    const talk = await Talk.start(service, agent);
    service.models.next(says('Hello.'));
    await talk.run('Hello');
    expect(offered()).not.toContain('knowledge_search');
    await learn(service, talk, { content: 'The harbour opens at seven.', name: 'hours.txt' });
    await untilOffered(talk, true);

    service.models.reset();
    service.models.next(asks({ query: 'When does the harbour open?' }), says('At seven.'));
    const { body } = await talk.run('When?');
    const [result] = wire.toolResults(service.models.requests.at(-1)?.body ?? {});
    expect(result).toMatchObject({ isError: false });
    expect(result?.output).toMatch(
      /⟦quote 1 ([0-9a-f]{32})⟧\nTitle: hours\.txt\nSource: an uploaded file\n\nThe harbour opens at seven\.\n⟦end of quote 1 \1⟧/,
    );
    expect(body.message?.toolCalls).toMatchObject([{ name: 'knowledge_search', status: 'completed' }]);
    expect((await talk.trace()).steps).toContainEqual(
      expect.objectContaining({ type: 'retrieval', name: 'knowledge_search', error: null }),
    );
  });
});

describe('the search of an agent', () => {
  it('has other marks in every answer', async () => {
    const talk = await Talk.start(service);
    await learn(service, talk, 'The harbour opens at seven.');
    await untilOffered(talk, true);
    const codes = [];
    for (let run = 0; run < 3; run += 1)
      codes.push(/⟦quote 1 (\w+)⟧/.exec((await searches(talk, { query: 'harbour' })).output)?.[1]);
    expect(new Set(codes).size).toBe(3);
  });

  it('is not offered after the last file was deleted, or while a file is being processed', async () => {
    const talk = await Talk.start(service);
    const [file] = await learn(service, talk, 'The harbour opens at seven.');
    await untilOffered(talk, true);
    await service.http('DELETE', `${filesPath(talk)}/${file?.id ?? ''}`, { key: talk.key });
    await untilOffered(talk, false);
    await addFile(service, talk, '');
    await settledFiles(service, talk);
    await untilOffered(talk, false);
  });

  it('states that nothing was found', async () => {
    const talk = await Talk.start(service);
    await learn(service, talk, 'The harbour opens at seven.');
    await untilOffered(talk, true);
    const { output, isError } = await searches(talk, { query: 'xylophone' });
    expect([isError, output]).toEqual([false, expect.stringContaining('has nothing that matches')]);
  });

  it.each([
    [{}],
    [{ query: 5 }],
    [{ query: '' }],
    [{ query: ' \n' }],
    [{ query: 'x'.repeat(8_001) }],
    [{ query: ['harbour'] }],
  ])('with a query that is none tells the model so: %j', async (input) => {
    const talk = await Talk.start(service);
    await learn(service, talk, 'The harbour opens at seven.');
    await untilOffered(talk, true);
    const search = jest.spyOn(service.app.get(SearchKnowledge, { strict: false }), 'execute');
    expect(await searches(talk, input)).toMatchObject({
      isError: true,
      output: expect.stringContaining('1 to 8000 characters'),
    });
    expect(search).not.toHaveBeenCalled();
  });

  it('that fails returns an error with advice for the model, and is a step with an error, without the cause', async () => {
    const talk = await Talk.start(service);
    await learn(service, talk, 'The harbour opens at seven.');
    await untilOffered(talk, true);
    jest
      .spyOn(service.app.get(SearchKnowledge, { strict: false }), 'execute')
      .mockRejectedValueOnce(new Error('connection to 10.0.0.7 refused'));
    const { output, isError } = await searches(talk, { query: 'harbour' });
    expect([isError, output]).toEqual([true, expect.stringContaining('cannot be searched at the moment')]);
    expect((await talk.trace()).steps).toContainEqual(
      expect.objectContaining({ type: 'retrieval', error: expect.stringContaining('cannot be searched') }),
    );
    expect(JSON.stringify([service.models.requests.map((request) => request.body), await talk.trace()])).not.toContain(
      '10.0.0.7',
    );
  });

  it('is not offered, and the run continues, if the service cannot read whether there is knowledge', async () => {
    const talk = await Talk.start(service);
    jest.spyOn(service.app.get(DocumentIndex, { strict: false }), 'hasChunks').mockRejectedValueOnce(new Error('away'));
    service.models.next(says('Hello.'));
    expect(await talk.run('Hello')).toMatchObject({ status: 200, body: { run: { status: 'completed' } } });
  });

  it('needs no approval', async () => {
    const talk = await Talk.start(service, { tools: { requireApprovalBeforeToolCalls: true } });
    await learn(service, talk, 'The harbour opens at seven.');
    await untilOffered(talk, true);
    expect(await searches(talk, { query: 'harbour' })).toMatchObject({ isError: false });
  });

  it('stops when the run is aborted', async () => {
    const talk = await Talk.start(service);
    await learn(service, talk, 'The harbour opens at seven.');
    await untilOffered(talk, true);
    const begun = Promise.withResolvers<AbortSignal>();
    jest
      .spyOn(service.app.get(SearchKnowledge, { strict: false }), 'execute')
      .mockImplementationOnce((_agent, _query, signal) => {
        begun.resolve(signal);
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        );
      });
    service.models.reset();
    service.models.next(asks({ query: 'harbour' }), says('Done.'));
    const running = talk.run('Look');
    const signal = await begun.promise;
    const run = await talk.storedRun();
    await service.http('POST', `${talk.path}/runs/${run?.id ?? ''}/cancel`, { key: talk.key });
    expect((await running).body.run.status).toBe('cancelled');
    expect(signal.aborted).toBe(true);
  });
});

describe('a file with a scope', () => {
  const SCOPE = { customer: 'c-17', seats: 1, trial: false };

  it('is found only by runs whose userContext has all of its entries, with the same types; the route never returns it', async () => {
    const talk = await Talk.start(service);
    const [open] = await learn(service, talk, { content: 'lions for everybody', name: 'open.txt' });
    await learn(service, talk, { content: 'lions for one customer', name: 'scoped.txt', scope: SCOPE });
    await untilOffered(talk, true);
    const seen = async (userContext?: object): Promise<string[]> => {
      const { output } = await searches(
        talk,
        { query: 'lions' },
        userContext === undefined ? {} : { config: { userContext } },
      );
      return ['open.txt', 'scoped.txt'].filter((name) => output.includes(name));
    };
    for (const holds of [SCOPE, { ...SCOPE, more: 'x' }]) expect(await seen(holds)).toEqual(['open.txt', 'scoped.txt']);
    const others = [
      ...[undefined, {}, { customer: 'c-17' }, { ...SCOPE, customer: 'c-18' }, { ...SCOPE, customer: 'C-17' }],
      ...[
        { ...SCOPE, seats: '1' },
        { ...SCOPE, seats: true },
        { ...SCOPE, trial: 'false' },
        { ...SCOPE, trial: 0 },
      ],
    ];
    for (const other of others) expect([other, await seen(other)]).toEqual([other, ['open.txt']]);
    expect(await searchKnowledge(service, talk, 'lions')).toMatchObject([{ sourceId: open?.id }]);
    expect(await searchKnowledge(service, talk, 'lions')).toHaveLength(1);
  });
});
