import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Writes a catalogue whose apps run `stdio-server.mjs`. @returns the setting that names the file */
export function catalogueOf(folder: string, ...slugs: readonly string[]): { readonly MCP_CATALOGUE: string } {
  const args = ['--max-old-space-size=2048', resolve('test/support/stdio-server.mjs'), 'good'];
  const apps = slugs.map((slug) => ({
    slug,
    name: slug,
    transport: 'local',
    command: process.execPath,
    args,
    envNames: ['KEY'],
  }));
  const file = join(folder, 'catalogue.json');
  writeFileSync(file, JSON.stringify({ apps }));
  return { MCP_CATALOGUE: file };
}

export function localApp(slug: string, key = 'value-of-key'): object {
  return { type: 'managed-mcp', app: slug, secrets: { envMap: { KEY: key } } };
}

/** Whether the process runs. A zombie counts as ended: its new parent may be slow to reap it. */
export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
