import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';

const MODULE = resolve('dist/platform/compile-cache/index.js');
const LOADED = resolve('dist/platform/ids/index.js');

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'compile-cache-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** In a process of its own, since it holds for the whole of one. */
function kept(path: string): string {
  const program = `
    const { keepCompiledCode } = await import(${JSON.stringify(MODULE)});
    const kept = keepCompiledCode(${JSON.stringify(path)});
    await import(${JSON.stringify(LOADED)});
    console.log(kept);
  `;
  const { NODE_COMPILE_CACHE: _other, ...env } = process.env;
  return execFileSync(process.execPath, ['--input-type=module', '-e', program], { env, encoding: 'utf8' }).trim();
}

it('caches compiled code in a folder that it creates, for several processes', () => {
  const path = join(folder, 'cache', 'compile');
  expect([kept(path), kept(path)]).toEqual(['true', 'true']);
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files).not.toEqual([]);
});

it('does nothing when the folder cannot be created', () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(kept(join(file, 'compile'))).toBe('false');
});
