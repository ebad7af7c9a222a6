import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';

const SERVER = join(import.meta.dirname, 'stdio-server.mjs');

/** A local app that needs a value of the customer. */
export const LOCAL_APP = { slug: 'test-local', envName: 'TEST_KEY' } as const;

/** A remote app that people sign in to. Nothing answers at its address. */
export const OAUTH_APP = { slug: 'test-oauth' } as const;

const APPS = [
  {
    ...{ slug: LOCAL_APP.slug, name: 'Local', transport: 'local', envNames: [LOCAL_APP.envName] },
    ...{ command: process.execPath, args: ['--max-old-space-size=256', SERVER] },
  },
  { slug: OAUTH_APP.slug, name: 'OAuth', transport: 'remote', oauth: true, url: 'https://127.0.0.1:9/mcp' },
];

/** Environment of a service whose catalogue has these apps besides its own, for all tests of a file. */
export function useAppCatalogue(): { readonly MCP_CATALOGUE: string } {
  const folder = mkdtempSync(join(tmpdir(), 'app-catalogue-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'catalogue.json');
  writeFileSync(file, JSON.stringify({ apps: APPS }));
  return { MCP_CATALOGUE: file };
}
