import { afterAll, describe, expect, it } from '@jest/globals';
import { MAX_FAILURES, STEP_MS, STOP_MS } from '../../../src/models/providers/claude-agent-sdk/loop/limits.js';
import { NotingTool } from '../../support/approvals.js';
import { type AgentFault, FakeClaudeAgent } from '../../support/fake-claude-agent.js';
import { type Answer, until, useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { answers, calls, HeldReply, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { type RunResult, Talk } from '../../support/talk.js';

const PROCESSES = 2;
const fake = new FakeClaudeAgent();
const clock = new ManualClock();
const service = useService({
  clock,
  extensions: scriptedRuns,
  environment: { CLAUDE_AGENT_DIR: fake.folder, CLAUDE_AGENT_PROCESSES: String(PROCESSES) },
});
afterAll(async () => {
  // After the service has closed.
  await until(() => fake.running() === 0, 'no process is left');
  fake.remove();
});

/** A run, and the tool that its model calls once. */
class PayingTalk {
  readonly pay = new NotingTool('pay');

  private constructor(readonly talk: Talk) {
    during(talk.threadId, { tools: [this.pay.offered] });
  }

  static async start(): Promise<PayingTalk> {
    return new PayingTalk(await Talk.start(service, { provider: { type: 'claude-agent-sdk' } }));
  }

  run(): Promise<Answer<RunResult>> {
    service.models.next(calls('pay', { sum: 5 }), says('Paid.'));
    return this.talk.run('Pay');
  }

  /** A run whose processes hang, each until its time limit. */
  async runWhileHanging(times: number, ms: number): Promise<Answer<RunResult>> {
    let run: Promise<Answer<RunResult>> | undefined;
    for (let nth = 0; nth < times; nth += 1) {
      await fake.untilHanging(() => (run ??= this.run()));
      await clock.advance(ms);
    }
    return run ?? this.run();
  }

  async cancel(): Promise<void> {
    const { id = '' } = (await this.talk.storedRun()) ?? {};
    await service.http('POST', `${this.talk.path}/runs/${id}/cancel`, { key: this.talk.key });
  }
}

async function untilGone(fault: AgentFault): Promise<void> {
  await until(() => fake.running(fault) === 0, `no process is left that ${fault}`);
}

async function untilCounted(state: 'busy' | 'waiting', count: number): Promise<void> {
  const line = `agent_service_claude_agent_processes{state="${state}"} ${count}\n`;
  await until(async () => (await service.http('GET', '/metrics')).text.includes(line), `${count} are ${state}`);
}

/** Faults before the tool is called, and the time limit for those that hang. */
const FAULTS: readonly (readonly [AgentFault, number?])[] = [
  ['exits'],
  ['never_starts', STEP_MS],
  ['silent', STEP_MS],
  ['deaf', STEP_MS],
  ['garbage'],
  ['memory'],
  ['asks_twice'],
  ['unknown_calls'],
  ['ends_unasked'],
  ['ends_early'],
];

describe.each(FAULTS)('a process with the fault %s', (fault, hangsMs = 0) => {
  const hangs = hangsMs > 0 ? 1 : 0;

  it('is replaced: the run completes with one call of its tool, and nothing is left of the process', async () => {
    const paying = await PayingTalk.start();
    await fake.meets(fault);
    const { body } = await paying.runWhileHanging(hangs, hangsMs);
    expect(body).toMatchObject({ run: { status: 'completed', error: null }, message: { content: 'Paid.' } });
    expect([paying.pay.inputs, service.models.requests.length]).toEqual([[{ sum: 5 }], 2]);
    expect(await fake.started()).toEqual([fault, 'none']);
    await untilGone(fault);
  });

  it(`fails the run as internal after ${MAX_FAILURES} failures, and the thread takes the next message`, async () => {
    const paying = await PayingTalk.start();
    await fake.meets(...Array<AgentFault>(MAX_FAILURES + 2).fill(fault));
    await paying.runWhileHanging(hangs * MAX_FAILURES, hangsMs);
    expect(await paying.talk.storedRun()).toMatchObject({ status: 'failed', error: { code: 'internal' } });
    expect(paying.pay.inputs).toEqual([]);
    expect(await fake.started()).toEqual(Array(MAX_FAILURES).fill(fault));
    await untilGone(fault);
    await fake.meets();
    service.models.reset();
    expect((await paying.run()).body).toMatchObject({ run: { status: 'completed' }, message: { content: 'Paid.' } });
    expect(paying.pay.inputs).toEqual([{ sum: 5 }]);
  });
});

describe('a process that dies during a tool call', () => {
  it('does not cause a second call', async () => {
    const paying = await PayingTalk.start();
    await fake.meets('dies_in_call');
    expect((await paying.run()).body).toMatchObject({ run: { status: 'completed' }, message: { content: 'Paid.' } });
    expect([paying.pay.inputs, service.models.requests.length]).toEqual([[{ sum: 5 }], 2]);
    await untilGone('dies_in_call');
  });
});

describe('a process that does not end its turn', () => {
  it('does not delay the answer, and is killed a second after it', async () => {
    const paying = await PayingTalk.start();
    await fake.meets('never_ends');
    let run: Promise<Answer<RunResult>> | undefined;
    await fake.untilHanging(() => (run = paying.run()));
    expect((await run)?.body).toMatchObject({ run: { status: 'completed' }, message: { content: 'Paid.' } });
    await clock.advance(STOP_MS - 1);
    expect(fake.running('never_ends')).toBeGreaterThan(0);
    await clock.advance(1);
    await untilGone('never_ends');
    service.models.next(says('Hello'));
    expect((await paying.talk.run('Hi')).body.run.status).toBe('completed');
    expect(await fake.started()).toEqual(['never_ends', 'none']);
  });

  it('frees its place for the next run', async () => {
    const paying = await Promise.all(Array.from({ length: PROCESSES + 1 }, () => PayingTalk.start()));
    await fake.meets(...Array<AgentFault>(PROCESSES).fill('never_ends'));
    service.models.always(says('Hello'));
    const { talk: last } = paying.pop()!;
    for (const { talk } of paying) {
      let run: Promise<Answer<RunResult>> | undefined;
      await fake.untilHanging(() => (run = talk.run('Hi')));
      expect((await run)?.body.run.status).toBe('completed');
    }
    const waiting = last.run('Hi');
    await untilCounted('waiting', 1);
    await clock.advance(STOP_MS);
    expect((await waiting).body.run.status).toBe('completed');
  });
});

describe('a run that is cancelled', () => {
  it.each(['silent', 'deaf', 'never_starts'] as const)(
    'ends before the time is over that its process has to stop, when it is %s and has to be killed',
    async (fault) => {
      const paying = await PayingTalk.start();
      await fake.meets(fault);
      let run: Promise<Answer<RunResult>> | undefined;
      await fake.untilHanging(() => (run = paying.run()));
      await paying.cancel();
      // The clock stands still.
      expect((await run)?.body.run.status).toBe('cancelled');
      expect(paying.pay.inputs).toEqual([]);
      await clock.advance(STOP_MS);
      await untilGone(fault);
      service.models.reset();
      expect((await paying.run()).body.run.status).toBe('completed');
    },
  );

  it('ends at once during a model call, and its process serves the next run', async () => {
    const paying = await PayingTalk.start();
    await fake.meets();
    const held = new HeldReply(['Wait']);
    service.models.next(held.script);
    const run = paying.talk.run('Hi');
    await held.asked;
    await paying.cancel();
    expect((await run).body.run.status).toBe('cancelled');
    held.finish();
    await untilCounted('busy', 0);
    service.models.next(says('Hello'));
    expect((await paying.talk.run('Hi')).body.run.status).toBe('completed');
    expect(await fake.started()).toEqual(['none']);
  });
});

describe('answers with more calls than a process makes in parallel', () => {
  it('have each call made once, by one process', async () => {
    const paying = await PayingTalk.start();
    await fake.meets();
    const sums = Array.from({ length: 75 }, (_, sum) => sum);
    const rounds = [sums.slice(0, 25), sums.slice(25, 50), sums.slice(50)];
    service.models.next(
      ...rounds.map((round) =>
        answers({ calls: round.map((sum) => ({ id: `c${sum}`, name: 'pay', input: { sum } })) }),
      ),
      says('Paid.'),
    );
    expect((await paying.talk.run('Pay')).body).toMatchObject({
      run: { status: 'completed' },
      message: { content: 'Paid.' },
    });
    expect(paying.pay.inputs).toEqual(sums.map((sum) => ({ sum })));
    expect(await fake.started()).toEqual(['none']);
  });
});
