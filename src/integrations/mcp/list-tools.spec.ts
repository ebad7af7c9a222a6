import { describe, expect, it } from '@jest/globals';
import { ConfidentialTexts } from '../../platform/vault/index.js';
import { listedTool } from './list-tools.js';

const confidential = new ConfidentialTexts(['secret-value']);
const inputSchema = { type: 'object', properties: {} };
const tool = { name: 'echo', description: 'Echoes', inputSchema };

describe('a tool that contains a secret', () => {
  it.each([
    ['name', { ...tool, name: 'secret-value' }],
    ['schema', { ...tool, inputSchema: { ...inputSchema, title: 'secret-value' } }],
  ])('is not listed if it is in its %s', (_where, received) => {
    expect(listedTool(received, confidential)).toBeUndefined();
  });

  it('is listed without it if it is in its description', () => {
    const listed = { ...tool, readOnly: false };
    expect(listedTool(tool, confidential)).toEqual(listed);
    expect(listedTool({ ...tool, description: 'A secret-value' }, confidential)).toEqual({
      ...listed,
      description: 'A [redacted]',
    });
  });
});
