import { describe, expect, it } from '@jest/globals';
import { rawResultOf, withRawResult } from './raw-result.js';

const region = { type: 'string', 'x-mcp-header': 'Region' };
const nested = JSON.parse(`${'{"properties":{"a":'.repeat(10_000)}{}${'}}'.repeat(10_000)}`) as object;

/** The tools of a list as the SDK receives them. */
function forSdk(tools: unknown): unknown {
  const message = withRawResult('tools/list', { jsonrpc: '2.0', id: 1, result: { tools } });
  const { result } = message as unknown as { readonly result: Readonly<Record<string, unknown>> };
  expect(rawResultOf(result)).toEqual({ tools });
  return result['tools'];
}

describe('a list of tools for the SDK', () => {
  it('has the arguments that are sent as headers, and nothing else of a tool', () => {
    const inputSchema = {
      properties: { region, text: { type: 'string' }, in: { properties: { region } } },
      required: 7,
    };
    const tool = { name: 'find', description: 'Finds', inputSchema, outputSchema: inputSchema, execution: {} };
    expect(forSdk([tool, { name: 'other', inputSchema: { type: 'object' } }])).toEqual([
      { name: 'find', inputSchema: { type: 'object', properties: { region, in: { properties: { region } } } } },
    ]);
  });

  it.each<[string, unknown]>([
    ['tools that are no list', { region }],
    ['a name that cannot be offered', [{ name: 'a\nb', inputSchema: { properties: { region } } }]],
    ['a name that is no string', [{ name: { toString: 1 }, inputSchema: { properties: { region } } }]],
    ['a header that is no token', [headerOf('a\nb')]],
    ['a very long header', [headerOf('a'.repeat(1_000))]],
    ['an argument of another type', [{ name: 'a', inputSchema: { properties: { region: { ...region, type: 7 } } } }]],
    ['a schema that is nested deeply', [{ name: 'a', inputSchema: nested }]],
  ])('has no tool for %s', (_what, tools) => {
    const received = withRawResult('tools/list', { jsonrpc: '2.0', id: 1, result: { tools } });
    expect(received).toMatchObject({ result: { tools: [] } });
  });
});

function headerOf(name: string): object {
  return { name: 'a', inputSchema: { properties: { region: { ...region, 'x-mcp-header': name } } } };
}
