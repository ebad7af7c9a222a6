import { describe, expect, it } from '@jest/globals';
import { NO_OPTIONS, resumedOptions } from './run-options.js';

describe('a run that resumes another', () => {
  it.each([
    ['keeps the limits of the earlier request', { maxSteps: 5 }, undefined, { maxSteps: 5 }],
    ['takes limits where the earlier request had none', undefined, { maxCredits: 2 }, { maxCredits: 2 }],
    ['can lower a limit', { maxSteps: 5, maxCredits: 2 }, { maxSteps: 3 }, { maxSteps: 3, maxCredits: 2 }],
    ['cannot raise a limit', { maxSteps: 5, maxCredits: 2 }, { maxCredits: 9 }, { maxSteps: 5, maxCredits: 2 }],
  ])('%s', (_what, earlier, sent, limits) => {
    expect(resumedOptions({ limits: earlier }, { limits: sent })).toEqual({ limits });
  });

  it('has no options where neither request has any', () => {
    expect(resumedOptions(NO_OPTIONS, NO_OPTIONS)).toEqual({});
  });
});
