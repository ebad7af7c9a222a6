import { describe, expect, it } from '@jest/globals';
import { Confidential } from './confidential.js';

const tool = { name: 'echo', description: 'Echoes', inputSchema: { type: 'object' }, readOnly: false };

describe('what a server was sent in confidence', () => {
  it.each([
    ['as it is', 'secret-value', 'You sent secret-value.', 'You sent [redacted].'],
    [
      'without its scheme',
      'Bearer secret-value',
      'Token secret-value, Bearer secret-value',
      'Token [redacted], [redacted]',
    ],
    ['within JSON', 'secret "value"', '{"key":"secret \\"value\\""}', '{"key":"[redacted]"}'],
    ['with signs of a pattern', 'a$&.*(secret', 'It is a$&.*(secret', 'It is [redacted]'],
  ])('is left out of a text: %s', (_how, secret, text, left) => {
    expect(new Confidential([secret]).leftOut(text)).toBe(left);
  });

  it('is left out as a whole where another one is its beginning', () => {
    expect(new Confidential(['secret-value', 'secret-value-2']).leftOut('secret-value-2')).toBe('[redacted]');
  });

  it.each(['short', '', 'https://tickets.example/api'])('is left where texts have it anyway: %j', (value) => {
    expect(new Confidential([value]).leftOut(`See ${value}/1`)).toBe(`See ${value}/1`);
  });

  it('is left out of an address with credentials', () => {
    const url = 'https://user:secret@tickets.example/api';
    expect(new Confidential([url]).leftOut(url)).toBe('[redacted]');
  });

  it('makes no tool of one that has it in its name or schema', () => {
    const confidential = new Confidential(['secret-value']);
    expect(confidential.leftOutOfTool({ ...tool, name: 'secret-value' })).toBeUndefined();
    expect(
      confidential.leftOutOfTool({ ...tool, inputSchema: { type: 'object', title: 'secret-value' } }),
    ).toBeUndefined();
    expect(confidential.leftOutOfTool({ ...tool, description: 'secret-value' })).toEqual({
      ...tool,
      description: '[redacted]',
    });
    expect(confidential.leftOutOfTool(tool)).toEqual(tool);
  });
});
