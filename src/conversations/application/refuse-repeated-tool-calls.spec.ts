import { describe, expect, it } from '@jest/globals';
import type { RunContext } from '../ports/index.js';
import { RefuseRepeatedToolCalls, SAME_CALLS_PER_RUN } from './refuse-repeated-tool-calls.js';

const run = (): RunContext => ({ runId: 'r' }) as RunContext;
const call = (input: object, id = 'c') => ({ id, name: 'look_up', input: { ...input } });

describe('a model that repeats itself', () => {
  it('may make the same call a few times in a run, then is refused', async () => {
    const hooks = new RefuseRepeatedToolCalls();
    const context = run();
    const decisions: string[] = [];
    for (let count = 0; count <= SAME_CALLS_PER_RUN; count += 1) {
      decisions.push((await hooks.beforeToolCall(context, call({ q: 1 }, `c${count}`))).decision);
    }

    expect(decisions).toEqual([...Array<string>(SAME_CALLS_PER_RUN).fill('allow'), 'deny']);
  });

  it('is not refused another input, nor the same input in another run', async () => {
    const hooks = new RefuseRepeatedToolCalls();
    const context = run();
    for (let count = 0; count <= SAME_CALLS_PER_RUN; count += 1) await hooks.beforeToolCall(context, call({ q: 1 }));

    expect(await hooks.beforeToolCall(context, call({ q: 2 }))).toMatchObject({ decision: 'allow' });
    expect(await hooks.beforeToolCall(run(), call({ q: 1 }))).toMatchObject({ decision: 'allow' });
  });
});
