import { describe, expect, it } from '@jest/globals';
import type { Database } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import { RunOwner } from '../engine/run-owner.js';
import type { NewRun } from './new-run.js';
import { RunRepository } from './run.repository.js';

const OUTDATED = {
  channel: 'api',
  is_first: false,
  answers: false,
  revision: null,
  started: false,
  open: false,
  current: false,
};
const STARTED = { ...OUTDATED, revision: 8, started: true, open: true, current: true };

const run: NewRun = {
  id: newId(),
  sessionId: null,
  threadId: newId(),
  messageId: newId(),
  userMessage: { id: newId(), text: 'Hi' },
  userContext: null,
  userKey: null,
  createdAt: new Date(),
  model: { provider: 'anthropic', model: 'any', useOwnApiKey: false },
};

/** A repository whose database returns these rows, one after the other; the last of them again and again. */
function answering(...answers: readonly object[]): {
  start: () => ReturnType<RunRepository['start']>;
  asked: () => number;
} {
  let asked = 0;
  const query = (): Promise<object[]> => Promise.resolve([answers[Math.min(asked++, answers.length - 1)] ?? {}]);
  const runs = new RunRepository({ query } as Partial<Database> as Database, new RunOwner());
  return { start: () => runs.start(newId(), run), asked: () => asked };
}

describe('the start of a run', () => {
  it('is one statement', async () => {
    const { start, asked } = answering(STARTED);
    expect(await start()).toMatchObject({ revision: 7 });
    expect(asked()).toBe(1);
  });

  it('is repeated when another run has started or ended on the thread since the statement began', async () => {
    const { start, asked } = answering(OUTDATED, OUTDATED, STARTED);
    expect(await start()).toMatchObject({ revision: 7 });
    expect(asked()).toBe(3);
  });

  it('finds the thread busy when that happens repeatedly', async () => {
    const { start, asked } = answering(OUTDATED);
    await expect(start()).rejects.toMatchObject({ because: 'thread_busy' });
    expect(asked()).toBe(5);
  });
});
