import { describe, expect, it } from '@jest/globals';
import type { RunContext } from '../ports/index.js';
import { NOTHING_USED, type RunConsumption } from '../domain/run-options.js';
import { creditsOf, limitsOf, reachedLimit, type RunLimit, usedSoFar } from './run-budget.js';

const NO_LIMITS = { maxSteps: null, maxCredits: null };
/** 200 credits for a million tokens of input. */
const MODEL = { type: 'anthropic', model: 'claude-sonnet-5-5', useOwnApiKey: false } as const;

interface Used {
  readonly before?: RunConsumption;
  readonly steps?: number;
  readonly inputTokens?: number;
  readonly provider?: RunContext['agent']['provider'];
}

function run(
  limits: readonly RunLimit[],
  { before = NOTHING_USED, steps = 0, inputTokens = 0, provider = MODEL }: Used,
) {
  const context = { usedBefore: before, agent: { provider } } as RunContext;
  return { context, limits, modelCalls: steps, chargedUsage: { inputTokens, outputTokens: 0 } };
}

describe('the limits of a run', () => {
  it.each([
    [undefined, NO_LIMITS, []],
    [{}, NO_LIMITS, []],
    [{ maxSteps: 3 }, NO_LIMITS, [['limits.maxSteps', 3]]],
    [
      undefined,
      { maxSteps: 4, maxCredits: 0.5 },
      [
        ["the agent's runLimits.maxSteps", 4],
        ["the agent's runLimits.maxCredits", 0.5],
      ],
    ],
    [
      { maxSteps: 3, maxCredits: 2 },
      { maxSteps: 4, maxCredits: 1 },
      [
        ['limits.maxSteps', 3],
        ["the agent's runLimits.maxCredits", 1],
      ],
    ],
    [{ maxSteps: 4 }, { maxSteps: 4, maxCredits: null }, [['limits.maxSteps', 4]]],
  ])('are the lower ones of the request (%j) and the agent (%j)', (requested, ofAgent, expected) => {
    expect(limitsOf(requested, ofAgent).map(({ field, most }) => [field, most])).toEqual(expected);
  });

  it('are reached by the run and those that it resumes together, and not a step before', () => {
    const limits = limitsOf({ maxSteps: 5 }, NO_LIMITS);
    const before = { steps: 3, credits: 0 };
    expect(reachedLimit(run(limits, { before, steps: 1 }))).toBeUndefined();
    expect(reachedLimit(run(limits, { before, steps: 2 }))).toEqual({
      code: 'run_limit_reached',
      message: 'The run has reached its limit of 5 steps (limits.maxSteps).',
    });
    expect(reachedLimit(run([], { before, steps: 2_000 }))).toBeUndefined();
  });

  it('name the value and the field of the one that is reached', () => {
    const limits = limitsOf({ maxSteps: 1 }, { maxSteps: null, maxCredits: 0.2 });
    expect(reachedLimit(run(limits, { steps: 1 }))?.message).toContain('1 step (limits.maxSteps)');
    expect(reachedLimit(run(limits, { inputTokens: 1_000 }))?.message).toContain(
      "0.2 credits (the agent's runLimits.maxCredits)",
    );
  });

  it('are reached by credits whose sum is exactly the limit', () => {
    const limits = limitsOf({ maxCredits: 0.8 }, NO_LIMITS);
    // 0.7 + 0.1 is less than 0.8 in floating-point numbers.
    expect(reachedLimit(run(limits, { before: { steps: 1, credits: 0.7 }, inputTokens: 500 }))).toBeDefined();
    expect(reachedLimit(run(limits, { before: { steps: 1, credits: 0.7 }, inputTokens: 499 }))).toBeUndefined();
  });
});

describe('what a run has used', () => {
  it('includes what the runs that it resumes have used', () => {
    const before = { steps: 2, credits: 0.7 };
    expect(usedSoFar(run([], { before, steps: 1, inputTokens: 500 }))).toEqual({ steps: 3, credits: 0.8 });
  });

  it("costs nothing on the agent's own key, and for a model outside the catalogue", () => {
    expect(creditsOf(run([], { inputTokens: 500 }))).toBe(0.1);
    expect(creditsOf(run([], { inputTokens: 500, provider: { ...MODEL, useOwnApiKey: true } }))).toBe(0);
    expect(creditsOf(run([], { inputTokens: 500, provider: { ...MODEL, model: 'unknown' } }))).toBe(0);
  });
});
