import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startService, type TestService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { anthropicWire } from '../../support/provider-wire.js';
import { calls, refuses, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { statementsOf } from '../../support/statements.js';
import { Talk } from '../../support/talk.js';

let service: TestService;
let replica: TestService;

beforeAll(async () => {
  service = await startService({ clock: new ManualClock(), extensions: scriptedRuns });
  replica = await service.replica();
});
afterAll(async () => {
  await replica.close();
  await service.close();
});
beforeEach(() => {
  service.models.reset();
});

async function turn(talk: Talk, question: string, answer: string): Promise<void> {
  service.models.next(says(answer));
  expect(await talk.run(question)).toMatchObject({ status: 200, body: { message: { content: answer } } });
}

interface SentMessage {
  readonly content: string | readonly { readonly text?: string }[];
}

/** The texts of the newest request to the model, in order. */
function read(): string[] {
  const { messages } = service.models.requests.at(-1)?.body as { readonly messages: readonly SentMessage[] };
  return messages.flatMap(({ content }) =>
    typeof content === 'string' ? content : content.map(({ text = '' }) => text),
  );
}

describe('a thread whose history this process has cached', () => {
  it('costs the next run two statements: its start and its end', async () => {
    const talk = await Talk.start(service);
    await turn(talk, 'one', 'first');
    await turn(talk, 'two', 'second');
    const statements = await statementsOf(service.database, () => turn(talk, 'three', 'third'));
    expect(statements).toHaveLength(2);
    expect(read()).toEqual(['one', 'first', 'two', 'second', 'three']);
  });

  it('is read again after a run in another process, so that the model gets its messages', async () => {
    const talk = await Talk.start(service);
    const there = talk.on(replica);
    await turn(talk, 'one', 'first');
    await turn(there, 'two', 'second');
    expect(read()).toEqual(['one', 'first', 'two']);
    await turn(talk, 'three', 'third');
    expect(read()).toEqual(['one', 'first', 'two', 'second', 'three']);
    await turn(talk, 'four', 'fourth');
    await turn(there, 'five', 'fifth');
    expect(read()).toEqual(['one', 'first', 'two', 'second', 'three', 'third', 'four', 'fourth', 'five']);
  });

  it('is read again after a run has failed in another process', async () => {
    const talk = await Talk.start(service);
    await turn(talk, 'one', 'first');
    service.models.next(refuses(400));
    expect(await talk.on(replica).run('two')).toMatchObject({ status: 502 });
    await turn(talk, 'three', 'third');
    expect(read()).toEqual(['one', 'first', 'two', 'three']);
  });

  it('is read again when a message declines calls that waited for approval', async () => {
    const talk = await Talk.start(service, { tools: { requireApprovalBeforeToolCalls: true } });
    during(talk.threadId, { tools: [tool('pay', () => Promise.resolve(output('paid')))] });
    await turn(talk, 'one', 'first');
    service.models.next(calls('pay', { sum: 5 }));
    expect(await talk.run('two')).toMatchObject({ body: { run: { status: 'requires_action' } } });
    await turn(talk, 'three', 'third');
    const results = anthropicWire.toolResults(service.models.requests.at(-1)?.body ?? {});
    expect(results).toMatchObject([{ isError: true, output: expect.stringContaining('next message') }]);
  });
});
