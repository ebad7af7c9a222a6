import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { markedBlocks } from './markdown-marked.support.js';
import { shortBlocks } from './markdown-tree.support.js';

/** Packages of the lock file whose documents hold lists in lists, tables, quotes and much code. */
const PACKAGES = [
  ...['@ag-ui/core', '@anthropic-ai/sdk', '@electric-sql/pglite', '@fastify/multipart'],
  ...['@mikro-orm/core', '@modelcontextprotocol/client', '@octokit/plugin-rest-endpoint-methods', 'acorn', 'ajv'],
  ...[
    'async',
    'axe-core',
    'bullmq',
    'busboy',
    'cors',
    'csv-parse',
    'dependency-cruiser',
    'esbuild',
    'eslint',
    'eventsource-parser',
  ],
  ...['fast-check', 'fastify', 'highlight.js', 'htmlparser2', 'ioredis', 'ipaddr.js', 'jest', 'jose', 'kysely'],
  ...['lru-cache', 'marked', 'openai', 'pg', 'pino', 'prettier', 'prom-client', 're2js', 'react', 'rxjs', 'undici'],
  ...['typescript', 'unpdf', 'uri-js', 'uuid', 'yauzl', 'zod'],
];

/**
 * Blocks are equal if they differ only in what the widget decides in another way: it knows formulas and footnotes, no links by reference
 * and no HTML; it links neither e-mail addresses nor names of hosts without a scheme; of three marks the outer are two.
 */
function comparable(block: string): string {
  return block
    .replace(
      /&(amp|lt|gt|quot|nbsp|#39);/g,
      (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' })[name] ?? "'",
    )
    .replace(/<formula ([^>]*)>/g, '$1')
    .replace(/\$([^$\s][^$]*)\$/g, '$1')
    .replace(/<note ([^>]*)>/g, '[^$1]')
    .replace(/<emphasis <strong ([^<>]*)>>/g, '<strong <emphasis $1>>')
    .replace(/<link (?:mailto:|https?:\/\/)?(\S+) (?:https?:\/\/|mailto:)?\1>/g, '$1')
    .replace(/<(mailto:)?([^\s<>@]+@[^\s<>@]+)>/g, '$2')
    .replace(/<br ?\/?>/g, '⏎')
    .replace(/[\s⏎]+/g, ' ')
    .replace(/ ;/g, ';')
    .trim();
}

const isHtml = (block: string): boolean =>
  /<(?!link|image|strong|code|emphasis|deleted)[a-z!/]/i.test(block) && !block.startsWith('code(');

describe('The documents of others', () => {
  it.each(PACKAGES)('%s', (name) => {
    const path = new URL(`../../../node_modules/${name}/README.md`, import.meta.url);
    const text = readFileSync(path, 'utf8')
      .replace(/\r\n?/g, '\n')
      .replace(/^\s*\[[^\]\n]+\]:.*$/gm, '');
    const own = new Set(shortBlocks(text).map(comparable));
    const expected = markedBlocks(text)
      .map(comparable)
      .filter((block) => block !== '' && !isHtml(block));
    const missing = expected.filter((block) => !own.has(block));
    expect({ missing, blocks: expected.length }).toEqual({ missing: [], blocks: expected.length });
    expect(expected.length).toBeGreaterThan(0);
  });
});
