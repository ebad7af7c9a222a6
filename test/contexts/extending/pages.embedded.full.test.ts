import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { GuideService } from '../guide/guide-service.js';
import { applyPage } from './applied-page.js';

// Compiles and builds a copy of the project.
jest.setTimeout(240_000);

const FOLDER = 'docs/extending';
const PAGES = readdirSync(FOLDER).filter((name) => name !== 'README.md');
/** The examples of these two are compiled with the tests: `test/extending`. */
const COMPILED = new Set(['context.md', 'tool-source.md']);
const APPLIED = PAGES.filter((page) => !COMPILED.has(page));
/** As many files as a page may change, new folders counted as one. */
const MOST_FILES: Readonly<Record<string, number>> = {
  'agent-setting.md': 5,
  'route.md': 3,
  'hook-event.md': 4,
  'provider.md': 2,
  'knowledge-source.md': 3,
};
const WHOLE = ['src', 'tools', 'widget', 'test/contexts/tenants', 'package.json', 'nest-cli.json', '.swcrc'];

const copy = mkdtempSync(join(tmpdir(), 'extended-'));
const changed = new Map<string, string[]>();
let service: GuideService | undefined;

const read = (page: string): string => readFileSync(join(FOLDER, page), 'utf8');

function run(...words: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: copy, encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

beforeAll(() => {
  for (const part of WHOLE) cpSync(part, join(copy, part), { recursive: true });
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  for (const page of APPLIED) changed.set(page, applyPage(read(page), copy));
});
afterAll(async () => {
  await service?.close();
  rmSync(copy, { recursive: true, force: true });
});

describe('the changes of all pages of docs/extending together', () => {
  it('compile', () => {
    const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8')) as { compilerOptions: object };
    const project = { compilerOptions, include: ['src'], exclude: ['src/**/*.spec.ts'] };
    writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify(project));
    expect(run('node_modules/typescript/bin/tsc', '--noEmit')).toBe('');
  });

  it('build and start', async () => {
    expect(run('tools/build.mjs')).toBe('');
    service = await GuideService.start({ entry: join(copy, 'dist/main.js') });
  });

  it.each(APPLIED)('%s changes as few files as it promises, and works', async (page) => {
    const files = (changed.get(page) ?? []).map((file) => file.replace(/\/(acme|notes)\/.*/, '/$1'));
    expect(new Set(files).size).toBeLessThanOrEqual(MOST_FILES[page] ?? 0);
    expect(service).toBeDefined();
    expect(await service?.problemOf(page, read(page))).toBeUndefined();
  });
});

describe('a page whose change does not fit the source', () => {
  it('fails', () => {
    const page =
      '```diff file=src/memory/http/memories.dto.ts\n-export class NoSuchClass {\n+export class Other {\n```';
    expect(() => applyPage(page, copy)).toThrow(/line 2: .* has the lines of a change 0 times/);
  });
});
