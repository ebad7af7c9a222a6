import type { OfferedTool } from '../../src/conversations/index.js';
import { output } from './scripted-runs.js';

const SERVERS = [
  'code_host',
  'tickets',
  'crm',
  'billing',
  'calendar',
  'mail',
  'files',
  'analytics',
  'payroll',
  'warehouse',
];
const VERBS = ['create', 'update', 'delete', 'list', 'search', 'archive', 'export', 'assign'];
const NOUNS = ['record', 'comment', 'report', 'member', 'schedule'];

/** Tools like those of large servers. More than 400 differ by a number at the end of their names. */
export function catalogueOf(count: number, searchable = true): OfferedTool[] {
  return Array.from({ length: count }, (_, nth) => {
    const server = SERVERS[nth % SERVERS.length] ?? '';
    const verb = VERBS[Math.floor(nth / SERVERS.length) % VERBS.length] ?? '';
    const noun = NOUNS[Math.floor(nth / (SERVERS.length * VERBS.length)) % NOUNS.length] ?? '';
    const round = Math.floor(nth / (SERVERS.length * VERBS.length * NOUNS.length));
    const name = `mcp__${server}__${verb}_${noun}${round === 0 ? '' : `_${round}`}`;
    return {
      definition: { name, description: describe(server, verb, noun), inputSchema: schemaOf(server, noun) },
      step: 'tool',
      effect: 'changes_resources',
      searchable,
      call: (input) => output(`${name} ${JSON.stringify(input)}`),
    };
  });
}

function describe(server: string, verb: string, noun: string): string {
  return (
    `Use this to ${verb} a ${noun} in the ${server.replace('_', ' ')} workspace of the organization. Returns the ${noun} with its identifier, ` +
    'its owner and the time of the last change. Needs write access to the workspace; fails with a message when the caller lacks it.'
  );
}

function schemaOf(server: string, noun: string): Record<string, unknown> {
  const text = (description: string) => ({ type: 'string', description });
  return {
    type: 'object',
    properties: {
      workspace: text(`Key of the ${server.replace('_', ' ')} workspace, as its address shows it.`),
      [`${noun}_id`]: text(`Identifier of the ${noun}; leave it out where a new one is made.`),
      title: text('A short title, at most 200 characters.'),
      body: text('The content as Markdown. Mentions and links are resolved.'),
      labels: { type: 'array', items: { type: 'string' }, description: 'Names of labels; unknown ones are made.' },
      priority: {
        type: 'string',
        enum: ['low', 'normal', 'high', 'urgent'],
        description: 'How soon it should be looked at.',
      },
      dry_run: { type: 'boolean', description: 'Checks the input and changes nothing.' },
    },
    required: ['workspace'],
    additionalProperties: false,
  };
}
