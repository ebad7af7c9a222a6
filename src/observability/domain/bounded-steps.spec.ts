import { describe, expect, it } from '@jest/globals';
import type { RunStep } from '../../conversations/index.js';
import { STEP_ERROR_CHARACTERS, STEP_VALUE_BYTES, STEP_VALUE_DEPTH, STEPS_BYTES } from '../limits.js';
import { boundedSteps } from './bounded-steps.js';
import type { TraceStep } from './trace.js';

function step(values: Partial<RunStep>): RunStep {
  return {
    id: 's',
    type: 'tool',
    name: 'search',
    startedAt: new Date(0),
    latencyMs: 1,
    input: null,
    output: null,
    error: null,
    ...values,
  };
}

function only(values: Partial<RunStep>): TraceStep | undefined {
  return boundedSteps([step(values)]).steps[0];
}

function nested(levels: number): unknown {
  let value: unknown = 'core';
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe('the steps of a trace', () => {
  it('keep a small value unchanged', () => {
    const whole = 'x'.repeat(STEP_VALUE_BYTES);
    const input = { a: [1, null, 'b'] };
    expect(only({ input, output: whole })).toMatchObject({ input, output: whole });
    expect(only({ input: undefined })).toMatchObject({ input: null });
  });

  it('keep the beginning and size of a larger text, without an incomplete character', () => {
    expect(only({ output: `a${'😀'.repeat(STEP_VALUE_BYTES / 4)}` })?.output).toEqual({
      truncated: true,
      bytes: STEP_VALUE_BYTES + 1,
      preview: `a${'😀'.repeat(STEP_VALUE_BYTES / 4 - 1)}`,
    });
  });

  it('keep the beginning of the JSON of a larger object', () => {
    const input = { list: Array.from({ length: STEP_VALUE_BYTES }, () => 1) };
    expect(only({ input })?.input).toEqual({
      truncated: true,
      bytes: JSON.stringify(input).length,
      preview: JSON.stringify(input).slice(0, STEP_VALUE_BYTES),
    });
  });

  it('have a common limit, and steps past it keep their names', () => {
    const large = 'x'.repeat(STEP_VALUE_BYTES);
    const count = STEPS_BYTES / STEP_VALUE_BYTES + 10;
    const { steps } = boundedSteps(
      Array.from({ length: count }, (_, index) => step({ id: String(index), output: large })),
    );
    expect(steps.map(({ id }) => id)).toEqual(Array.from({ length: count }, (_, index) => String(index)));
    expect(steps.at(0)?.output).toBe(large);
    expect(steps.at(-1)?.output).toEqual({ truncated: true, bytes: STEP_VALUE_BYTES, preview: '' });
  });

  it('contain nothing too deep for the database, and nothing but JSON', () => {
    expect(only({ input: nested(STEP_VALUE_DEPTH) })?.input).toEqual(nested(STEP_VALUE_DEPTH));
    expect(only({ input: nested(STEP_VALUE_DEPTH + 1) })?.input).toMatchObject({ truncated: true });
    expect(only({ input: nested(1_000_000) })?.input).toMatchObject({ truncated: true });
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    expect(only({ input: cycle, output: 1n })).toMatchObject({
      input: { truncated: true, bytes: null, preview: '' },
      output: { truncated: true, bytes: null, preview: '' },
    });
  });

  it('cut an error by characters', () => {
    const error = '😀'.repeat(STEP_ERROR_CHARACTERS);
    expect(only({ error })?.error).toBe(error);
    expect(only({ error: `${error}!` })?.error).toBe(`${error} [cut]`);
  });
});
