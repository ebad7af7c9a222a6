import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { clientTool, resultOf } from '../../support/client-tools.js';
import { startService, type TestService } from '../../support/harness.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { answers, says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

describe('a run that waits for the result of a caller’s tool', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startService({});
  });
  afterAll(() => service.close());

  it('waits across restarts: another process knows its tools, takes the result and continues', async () => {
    const talk = await Talk.start(service);
    service.models.next(answers({ text: 'Let me look.', calls: [{ id: 'w1', name: 'weather', input: {} }] }));
    const { body } = await talk.run('Weather?', { tools: [clientTool('weather'), clientTool('map')] });

    // The process that ran it is no longer needed.
    const restarted = await service.replica();
    const later = talk.on(restarted);
    const { interrupts } = (await later.storedAs(body.run.id)).body;
    expect(interrupts).toEqual(body.interrupts);
    service.models.next(says('It rains.'));
    const resumed = await later.resume(resultOf(interrupts[0]!, 'rain'));

    expect(resumed).toMatchObject({
      status: 200,
      body: { run: { status: 'completed' }, message: { content: 'It rains.' } },
    });
    const request = service.models.requests.at(-1)?.body as { tools: { name: string }[] };
    expect(request.tools.map(({ name }) => name)).toEqual(['weather', 'map']);
    expect(anthropicWire.toolResults(request as never)).toMatchObject([{ id: 'w1', output: 'rain' }]);
    // Nothing is kept for a run that was answered.
    const kept = await service.database.query('select 1 from runs where thread_id = $1 and continuation is not null', [
      talk.threadId,
    ]);
    expect(kept).toEqual([]);
    await restarted.close();
  });
});
