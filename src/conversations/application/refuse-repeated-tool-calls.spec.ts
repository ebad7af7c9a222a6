import { describe, expect, it } from '@jest/globals';
import type { RunContext, RunStep } from '../ports/index.js';
import { RefuseRepeatedToolCalls, SAME_CALLS_IN_A_ROW } from './refuse-repeated-tool-calls.js';

type Answer = readonly object[];

/** @returns the decisions about calls with these inputs, one list for each answer */
async function decisionsOn(answers: readonly Answer[]): Promise<string[][]> {
  const hooks = new RefuseRepeatedToolCalls();
  const steps: RunStep[] = [];
  const run = { runId: 'r', steps } as unknown as RunContext;
  const decisions: string[][] = [];
  for (const [index, answer] of answers.entries()) {
    steps.push({ id: `step-${index}`, type: 'model' } as RunStep);
    const verdicts = answer.map((input, place) =>
      hooks.beforeToolCall(run, { id: `c${index}-${place}`, name: 'look_up', input: { ...input } }),
    );
    decisions.push((await Promise.all(verdicts)).map(({ decision }) => decision));
  }
  return decisions;
}

const same = { q: 1 };
const times = (count: number, answer: Answer): Answer[] => Array.from({ length: count }, () => answer);
const allowed = (answers: readonly Answer[]): string[][] => answers.map((answer) => answer.map(() => 'allow'));

describe('a model that repeats itself', () => {
  it('may make the same call a few times in a row, then is refused', async () => {
    const repeated = times(SAME_CALLS_IN_A_ROW, [same]);
    expect(await decisionsOn([...repeated, [same], [same]])).toEqual([...allowed(repeated), ['deny'], ['deny']]);
  });

  it('may make it without limit with another call in between, in a separate answer or the same one', async () => {
    const polling = times(20, [same]).flatMap((answer) => [answer, [{ q: 2 }]]);
    expect(await decisionsOn(polling)).toEqual(allowed(polling));
    const pairs = times(20, [same, { q: 2 }]);
    expect(await decisionsOn(pairs)).toEqual(allowed(pairs));
  });

  it('may make it again after another call', async () => {
    const decisions = await decisionsOn([...times(SAME_CALLS_IN_A_ROW + 1, [same]), [{ q: 2 }], [same]]);
    expect(decisions.slice(SAME_CALLS_IN_A_ROW)).toEqual([['deny'], ['allow'], ['allow']]);
  });

  it('counts equal calls of one answer once', async () => {
    const eight = times(SAME_CALLS_IN_A_ROW, Array<object>(8).fill(same));
    expect(await decisionsOn(eight)).toEqual(allowed(eight));
  });
});
