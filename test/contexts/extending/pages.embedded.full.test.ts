import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { GuideService } from '../guide/guide-service.js';
import { APPLIED_PAGES, applyPage, readPage } from './applied-page.js';

// Compiles and builds a copy of the project.
jest.setTimeout(240_000);

const WHOLE = ['src', 'tools', 'widget', 'test/contexts/tenants', 'package.json', 'nest-cli.json', '.swcrc'];

const copy = mkdtempSync(join(tmpdir(), 'extended-'));
let service: GuideService | undefined;

function run(...words: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: copy, encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

beforeAll(() => {
  for (const part of WHOLE) cpSync(part, join(copy, part), { recursive: true });
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'));
  for (const page of APPLIED_PAGES) applyPage(readPage(page), copy);
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

  it.each(APPLIED_PAGES)('work as %s shows', async (page) => {
    expect(service).toBeDefined();
    expect(await service?.problemOf(page, readPage(page))).toBeUndefined();
  });
});
