import { describe, expect, it } from '@jest/globals';
import { ToolOutputBudget } from './tool-output-budget.js';
import { MAX_TOOL_OUTPUT, MAX_TOOL_OUTPUTS } from './limits.js';

const note = (kept: number, whole: number): string =>
  `[The output was cut: ${kept} of its ${whole} characters are kept.]`;

describe('the tool outputs of a run', () => {
  it('are whole up to the limit of one', () => {
    const output = 'x'.repeat(MAX_TOOL_OUTPUT);
    expect(new ToolOutputBudget().take(output)).toBe(output);
  });

  it('are cut beyond it, never within a character, and a note says so', () => {
    const output = `x${'😀'.repeat(MAX_TOOL_OUTPUT / 2)}`;
    const taken = new ToolOutputBudget().take(output);
    expect(taken.isWellFormed()).toBe(true);
    expect(taken).toBe(`${output.slice(0, -2)}\n\n${note(output.length - 2, output.length)}`);
  });

  it('are limited together: without room left an output is only a note', () => {
    const outputs = new ToolOutputBudget();
    const output = 'x'.repeat(MAX_TOOL_OUTPUT);
    for (let room = MAX_TOOL_OUTPUTS; room > 0; room -= output.length) expect(outputs.take(output)).toBe(output);
    expect(outputs.take(output)).toBe(note(0, output.length));
    expect(outputs.take('')).toBe('');
  });
});
