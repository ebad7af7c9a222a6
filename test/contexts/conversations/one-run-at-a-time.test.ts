import { describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { heldRun } from '../../support/held-run.js';
import { says } from '../../support/scripted-models.js';
import { endOf, Talk } from '../../support/talk.js';

const service = useService();

const BUSY = { statusCode: 409, code: 'thread_busy', error: 'conflict', message: expect.any(String) };

describe('a thread on which a run is under way', () => {
  it.each(['runs', 'runs/stream'])(
    'refuses a second one on %s with 409 thread_busy and stores nothing of it',
    async (route) => {
      const { talk, held, running } = await heldRun(service);

      const body = { message: { role: 'user', content: 'Second' } };
      const second = await service.http('POST', `${talk.path}/${route}`, { key: talk.key, body });

      expect(second.status).toBe(409);
      expect(second.body).toEqual(BUSY);
      expect(await talk.lines()).toEqual(['user: Hi']);
      held.finish();
      expect(await running).toMatchObject({ status: 200, body: { message: { content: 'Half and half' } } });

      service.models.next(says('Third answer'));
      expect(await talk.run('Third')).toMatchObject({ status: 200 });
      expect(await talk.lines()).toEqual([
        'user: Hi',
        'assistant: Half and half',
        'user: Third',
        'assistant: Third answer',
      ]);
      expect(service.models.requests).toHaveLength(2);
    },
  );

  it('does not block other threads of the agent', async () => {
    const { talk, held, running } = await heldRun(service);
    service.models.next(says('Free'));
    expect(await (await talk.another()).run('Elsewhere')).toMatchObject({ status: 200 });
    held.finish();
    await running;
  });

  it('has stored the message before the model is called', async () => {
    const talk = await Talk.start(service);
    let seen: string[] = [];
    service.models.next(async (exchange, wire) => {
      seen = await talk.lines();
      await exchange.sendAll(wire.text(['Hello']));
    });
    await talk.run('Hi');
    expect(seen).toEqual(['user: Hi']);
  });

  it('has stored the reply before the stream ends', async () => {
    const talk = await Talk.start(service);
    service.models.next(says('Hello'));
    let seen: string[] | undefined;
    for await (const { event } of talk.stream('Hi')) if (event.type === 'RUN_FINISHED') seen = await talk.lines();
    expect(seen).toEqual(['user: Hi', 'assistant: Hello']);
  });
});

describe('many messages at once on one thread', () => {
  it('are accepted one at a time: only accepted ones are stored, with their replies, in order', async () => {
    const talk = await Talk.start(service);
    let calls = 0;
    let open = 0;
    let most = 0;
    service.models.always(async (exchange, wire) => {
      calls += 1;
      open += 1;
      most = Math.max(most, open);
      await exchange.send(wire.text(['x'])[0] ?? '');
      open -= 1;
      await exchange.sendAll(wire.text([`reply ${calls}`]).slice(1));
    });

    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => talk.run(`message ${index}`)));

    const accepted = answers.filter(({ status }) => status === 200);
    expect(accepted.length).toBeGreaterThan(0);
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    expect(most).toBe(1);
    const messages = await talk.messages();
    expect(messages).toHaveLength(accepted.length * 2);
    expect(messages.map(({ role }) => role)).toEqual(accepted.flatMap(() => ['user', 'assistant']));
    const runs = messages.map(({ runId }) => runId);
    expect(runs.filter((_, index) => index % 2 === 0)).toEqual(runs.filter((_, index) => index % 2 === 1));
    expect([...new Set(runs)].sort()).toEqual(accepted.map(({ body }) => body.run.id).sort());
    expect(calls).toBe(accepted.length);
  });

  it('do not disturb other threads', async () => {
    const talk = await Talk.start(service);
    service.models.always(says('Hello'));
    const talks = await Promise.all(Array.from({ length: 10 }, () => talk.another()));
    const ends = await Promise.all(talks.map(async (one) => endOf(await one.streamed('Hi'))));
    expect(ends.map(({ type }) => type)).toEqual(talks.map(() => 'RUN_FINISHED'));
  });
});
