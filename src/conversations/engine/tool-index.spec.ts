import { describe, expect, it } from '@jest/globals';
import { computingMs } from '../../../test/support/computing-time.js';
import { toolIndex, ToolIndex, wordsOf } from './tool-index.js';

const tool = (name: string, description = '', ...parameters: string[]) => ({
  name,
  description,
  inputSchema: {
    type: 'object',
    properties: Object.fromEntries(parameters.map((parameter) => [parameter, { type: 'string' }])),
  },
});

const TOOLS = [
  tool('mcp__git_host__create_issue', 'Opens a new issue in a repository.', 'repository', 'title', 'assigneeLogin'),
  tool(
    'mcp__git_host__list_pull_requests',
    'Lists the pull requests of a repository, which may close an issue.',
    'repository',
  ),
  tool('mcp__billing__createInvoice', 'Bills a customer.', 'customer_id', 'amount'),
  tool('mcp__wetter__vorhersage', 'Liefert die Vorhersage für eine Stadt, auf Straßenebene.', 'stadt'),
  tool('mcp__kyoto__search', '京都の天気予報をPDFで取得する。'),
  tool('mcp__odd__nothing'),
];
const index = new ToolIndex(TOOLS);

function found(query: string): string[] {
  return index.search(query, 8).map(({ name }) => name.replace(/^mcp__/u, ''));
}

describe('tools are found', () => {
  it.each([
    ['by words of the name', 'create issue', 'git_host__create_issue'],
    ['by a word of the description', 'bills', 'billing__createInvoice'],
    ['by the name of a parameter', 'assignee', 'git_host__create_issue'],
    ['whatever the case', 'PULL REQUESTS', 'git_host__list_pull_requests'],
    ['by names that are written in one word', 'invoice', 'billing__createInvoice'],
    ['by a word that is longer', 'invoices', 'billing__createInvoice'],
    ['by the beginning of a word', 'repos pull', 'git_host__list_pull_requests'],
    ['by the whole name', 'mcp__billing__createInvoice', 'billing__createInvoice'],
    ['with accents or without', 'fur eine Stadt', 'wetter__vorhersage'],
    ['in scripts without spaces between words', '天気', 'kyoto__search'],
    ['by a word beside such text', 'pdf', 'kyoto__search'],
  ])('%s', (_how, query, best) => {
    expect(found(query)[0]).toBe(best);
  });

  it('with matches in names before matches in descriptions', () => {
    expect(found('issue')).toEqual(['git_host__create_issue', 'git_host__list_pull_requests']);
  });

  it.each(['', '  ', 'zzz', '?!', 'q'])('not by %j', (query) => {
    expect(found(query)).toEqual([]);
  });

  it('up to the limit', () => {
    expect(index.search('mcp', 3)).toHaveLength(3);
  });
});

describe('an index', () => {
  it('takes schemas as servers send them', () => {
    const odd = [
      { ...tool('plain'), inputSchema: {} },
      { ...tool('null'), inputSchema: { properties: null } },
      { ...tool('text'), inputSchema: { properties: 'x' } },
    ];
    expect(new ToolIndex(odd).search('plain', 8)).toHaveLength(1);
    expect(new ToolIndex([]).search('plain', 8)).toEqual([]);
  });

  it('does not grow with the length of descriptions and queries', () => {
    const long = Array.from({ length: 400 }, (_, nth) =>
      tool(`tool_${nth}`, `word${nth} `.repeat(100_000), 'parameter'),
    );
    const takes = computingMs(() => {
      const large = new ToolIndex(long);
      expect(large.search('x'.repeat(1_000_000), 8)).toEqual([]);
      expect(large.search('word '.repeat(200_000), 8)).toHaveLength(8);
    });
    expect(takes).toBeLessThan(2_000);
  });
});

it('splits names into words', () => {
  expect(wordsOf('createIssue HTTP2 naïve_Ünit-x')).toEqual(['create', 'issue', 'http', '2', 'naive', 'unit', 'x']);
  expect(wordsOf('天気予報')).toEqual(['天気', '気予', '予報']);
  expect(wordsOf('')).toEqual([]);
});

describe('an index', () => {
  it('is built once for the same definitions, and again for any other list', () => {
    const first = toolIndex([...TOOLS]);
    expect(toolIndex([...TOOLS])).toBe(first);
    const fewer = toolIndex(TOOLS.slice(0, 2));
    expect(fewer).not.toBe(first);
    expect(fewer.search('invoice', 8)).toEqual([]);
    expect(toolIndex(TOOLS.map((each) => ({ ...each })))).not.toBe(first);
  });
});
