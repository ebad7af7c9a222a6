import { beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/support/manual-clock.js';
import type { AgentDirectory } from '../../agents/index.js';
import { DatabaseUnavailable } from '../../platform/database/index.js';
import { MemoryRunLog } from '../../platform/run-log/memory-run-log.js';
import type { RunLogWriter } from '../../platform/run-log/index.js';
import type { Logger } from '../../platform/telemetry/index.js';
import type { RunReader, StoredRun } from '../persistence/run-reader.repository.js';
import { FollowRun } from './follow-run.js';
import { RunEnds } from './run-ends.js';
import type { RunSignals } from './run-signals.js';
import { PLAIN } from './run-supervisor.js';
import { SilentLogs } from './silent-logs.js';

const REFERENCE = { organizationId: 'o', threadId: 't', runId: 'r' };
const MESSAGE = {
  ...{ id: 'm', content: 'Half and half', toolCalls: [], components: [] },
  ...{ createdAt: new Date(0), reaction: null, attachments: [], transcript: [] },
};

function storedAs(status: 'running' | 'completed'): StoredRun {
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2, cachedInputTokens: null, credits: 0 };
  const run = { id: 'r', threadId: 't', status, error: null, approvals: [], usage, createdAt: new Date(0) };
  return {
    run: { ...run, completedAt: new Date(0) },
    message: MESSAGE,
    model: {},
    decisions: null,
    threadExists: true,
  } as never;
}

let clock: ManualClock;
let writer: RunLogWriter;
let asked: string[][];
let stored: StoredRun;
let followRun: FollowRun;
/** How many of the next reads of the run, and of its agent, fail. */
let failing: { run: number; agent: number };

beforeEach(() => {
  clock = new ManualClock();
  asked = [];
  stored = storedAs('running');
  const underWay = (runIds: string[]): Promise<Set<string>> => {
    asked.push(runIds);
    return Promise.resolve(new Set(stored.run.status === 'running' ? runIds : []));
  };
  const silentLogs = new SilentLogs({ underWay } as unknown as RunReader, clock, {} as Logger);
  silentLogs.onApplicationBootstrap();
  const log = new MemoryRunLog(clock);
  writer = log.open('r');
  failing = { run: 0, agent: 0 };
  const read = <Value>(what: keyof typeof failing, value: Value): Promise<Value> => {
    failing[what] -= 1;
    return failing[what] < 0 ? Promise.resolve(value) : Promise.reject(new DatabaseUnavailable(undefined));
  };
  const findUnderWay = async (): Promise<ReadonlySet<string>> => {
    const { run } = await read('run', stored);
    return new Set(run.status === 'running' ? [run.id] : []);
  };
  const runs = { find: () => read('run', stored), underWay: findUnderWay } as unknown as RunReader;
  const signals = { expectEnd: () => () => undefined } as unknown as RunSignals;
  const ends = new RunEnds(runs, signals, clock);
  const agents = { find: () => read('agent', null) } as unknown as AgentDirectory;
  followRun = new FollowRun(log, ends, silentLogs, agents, clock);
});

/** The types of the events of a reader that began now, and whether it has them all. */
async function reader(after = 0): Promise<{ types: string[]; numbers: number[]; ended: () => boolean }> {
  const awaited = { reference: REFERENCE, stored, readAt: 0 };
  const entries = await followRun.after(awaited, after, new AbortController().signal);
  const [types, numbers]: [string[], number[]] = [[], []];
  let ended = false;
  void (async () => {
    for await (const batch of entries ?? []) {
      for (const { number, data } of batch) {
        types.push((JSON.parse(data) as { type: string }).type);
        numbers.push(number);
      }
    }
    ended = true;
  })();
  await clock.advance(0);
  return { types, numbers, ended: () => ended };
}

const write = (event: object): void => writer.append(PLAIN, JSON.stringify(event));

function begin(): void {
  write({ type: 'RUN_STARTED' });
  write({ type: 'TEXT_MESSAGE_START', messageId: 'm' });
  write({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Half' });
}

const BEGUN = ['RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT'];
const REST = ['TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'RUN_FINISHED'];

describe('a followed log', () => {
  it('that is silent after the end of its run gives way to the stored reply', async () => {
    begin();
    const { types, ended } = await reader();
    await clock.advance(60_000);
    expect({ types, ended: ended() }).toEqual({ types: BEGUN, ended: false });
    stored = storedAs('completed');
    await clock.advance(5_000);
    expect({ types, ended: ended() }).toEqual({ types: [...BEGUN, ...REST], ended: true });
  });

  it.each(['run', 'agent'] as const)(
    'gives way also when the %s cannot be read at first, after a long time in which the database was not asked',
    async (what) => {
      begin();
      const { types, ended } = await reader();
      for (let nth = 0; nth < 200; nth += 1) {
        await clock.advance(1_000);
        write({ type: 'CUSTOM', name: 'progress', value: { id: String(nth) } });
      }
      await clock.advance(0);
      failing[what] = 1;
      stored = storedAs('completed');
      await clock.advance(8_000);
      expect(ended()).toBe(true);
      expect(types.filter((type) => type !== 'CUSTOM')).toEqual([...BEGUN, ...REST]);
    },
  );

  it('may have more events than a call has arguments', async () => {
    const MANY = 200_000;
    for (let nth = 0; nth < MANY; nth += 1) write({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: '.' });
    write({ type: 'RUN_FINISHED' });
    writer.end();
    const { types } = await reader();
    await clock.advance(1_000);
    expect(types).toHaveLength(MANY + 1);
  });

  it('of a run that had ended before gives way after a second', async () => {
    begin();
    stored = storedAs('completed');
    const { types, ended } = await reader();
    await clock.advance(2_000);
    expect({ types, ended: ended() }).toEqual({ types: [...BEGUN, ...REST], ended: true });
  });

  it('is read to its end while it goes on', async () => {
    begin();
    stored = storedAs('completed');
    const { types, numbers } = await reader();
    for (let nth = 0; nth < 20; nth += 1) {
      await clock.advance(900);
      write({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: '.' });
      await clock.advance(0);
    }
    write({ type: 'RUN_FINISHED' });
    writer.end();
    await clock.advance(60_000);
    expect(types.filter((type) => type === 'RUN_FINISHED')).toHaveLength(1);
    expect(numbers).toEqual(Array.from({ length: 24 }, (_, index) => index + 1));
  });

  it('that lacks only the mark of its end brings nothing after its terminal event', async () => {
    begin();
    write({ type: 'RUN_FINISHED' });
    stored = storedAs('completed');
    const [all, behind] = [await reader(), await reader(4)];
    await clock.advance(5_000);
    expect({ ...all, ended: all.ended() }).toEqual({
      types: [...BEGUN, 'RUN_FINISHED'],
      numbers: [1, 2, 3, 4],
      ended: true,
    });
    expect({ ...behind, ended: behind.ended() }).toEqual({ types: ['RUN_FINISHED'], numbers: [5], ended: true });
  });

  it('costs no statement while it brings something, and one for all readers when it is silent', async () => {
    begin();
    await Promise.all([reader(), reader()]);
    for (let nth = 0; nth < 10; nth += 1) {
      await clock.advance(1_000);
      write({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: '.' });
      await clock.advance(0);
    }
    expect(asked).toEqual([]);
    await clock.advance(4_000);
    expect(asked).toEqual([['r']]);
  });
});
