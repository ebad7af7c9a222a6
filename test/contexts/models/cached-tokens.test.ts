import { describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import type { ModelScript } from '../../support/scripted-models.js';
import { endOf, Talk } from '../../support/talk.js';
import type { WireUsage } from '../../support/wire.js';

const service = useService();

const USED = { input: 1_200, output: 300, cached: 1_000 };

const reports =
  (usage: WireUsage): ModelScript =>
  (exchange, wire) =>
    exchange.sendAll(wire.text(['ok'], usage));

describe.each(AGENT_WIRES)('input that $provider has read from its cache', ({ provider, model }) => {
  const agent = { provider: { type: provider, model } };

  it('is in the usage of the run, its trace, and the step of the trace', async () => {
    const talk = await Talk.start(service, agent);
    service.models.next(reports(USED));

    const { body } = await talk.run('Hi');

    expect(body.run.usage).toMatchObject({ inputTokens: 1_200, outputTokens: 300, cachedInputTokens: 1_000 });
    expect((await talk.storedAs(body.run.id)).body.run.usage).toEqual(body.run.usage);
    const trace = await talk.trace();
    expect(trace.usage).toEqual(body.run.usage);
    expect(trace.steps).toMatchObject([{ usage: { inputTokens: 1_200, cachedInputTokens: 1_000 } }]);
  });

  it('is in the last event of the stream', async () => {
    const talk = await Talk.start(service, agent);
    service.models.next(reports(USED));

    expect(endOf(await talk.streamed('Hi'))).toMatchObject({
      usage: [{ inputTokens: 1_200, cachedInputTokens: 1_000 }],
      result: { run: { usage: { cachedInputTokens: 1_000 } } },
    });
  });

  it('is in the usage of a chat completion', async () => {
    const talk = await Talk.start(service, agent);
    service.models.next(reports(USED));

    const { body } = await service.http('POST', '/v1/chat/completions', {
      key: talk.key,
      body: { assistant_id: talk.agentId, messages: [{ role: 'user', content: 'Hi' }] },
    });

    expect(body['usage']).toEqual({
      ...{ prompt_tokens: 1_200, completion_tokens: 300, total_tokens: 1_500 },
      prompt_tokens_details: { cached_tokens: 1_000 },
    });
  });

  it('is unknown where the provider reports none', async () => {
    const talk = await Talk.start(service, agent);
    service.models.next(reports({ input: 1_200, output: 300 }));

    const { body } = await talk.run('Hi');

    expect(body.run.usage).toMatchObject({ inputTokens: 1_200, cachedInputTokens: null });
  });
});

it('a run that an earlier release has stored has an unknown number of cached tokens', async () => {
  const talk = await Talk.start(service);
  service.models.next(reports(USED));
  const { body } = await talk.run('Hi');
  await service.database.query('update runs set cached_input_tokens = null where id = $1', [body.run.id]);

  expect((await talk.storedAs(body.run.id)).body.run.usage).toEqual({ ...body.run.usage, cachedInputTokens: null });
});
