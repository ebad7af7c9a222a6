import { describe, expect, it } from '@jest/globals';
import type { TurnContext } from '../ports/index.js';
import { RefuseRepeatedToolCalls, SAME_CALLS_A_TURN } from './refuse-repeated-tool-calls.js';

const turn = (): TurnContext => ({ runId: 'r' }) as TurnContext;
const call = (input: object, id = 'c') => ({ id, name: 'look_up', input: { ...input } });

describe('a model that repeats itself', () => {
  it('may make the same call a few times in a turn, then is refused', async () => {
    const hooks = new RefuseRepeatedToolCalls();
    const context = turn();
    const decisions: string[] = [];
    for (let count = 0; count <= SAME_CALLS_A_TURN; count += 1) {
      decisions.push((await hooks.beforeToolCall(context, call({ q: 1 }, `c${count}`))).decision);
    }

    expect(decisions).toEqual([...Array<string>(SAME_CALLS_A_TURN).fill('allow'), 'deny']);
  });

  it('is not refused another input, nor the same input in another turn', async () => {
    const hooks = new RefuseRepeatedToolCalls();
    const context = turn();
    for (let count = 0; count <= SAME_CALLS_A_TURN; count += 1) await hooks.beforeToolCall(context, call({ q: 1 }));

    expect(await hooks.beforeToolCall(context, call({ q: 2 }))).toMatchObject({ decision: 'allow' });
    expect(await hooks.beforeToolCall(turn(), call({ q: 1 }))).toMatchObject({ decision: 'allow' });
  });
});
