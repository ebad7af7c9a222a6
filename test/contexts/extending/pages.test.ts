import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { APPLIED_PAGES, applyPage, readPage } from './applied-page.js';

/** As many files as a page may change; the files of a new folder count as one. */
const MOST_FILES: Readonly<Record<string, number>> = {
  'agent-setting.md': 5,
  'route.md': 3,
  'hook-event.md': 4,
  'provider.md': 3,
  'knowledge-source.md': 3,
};
const NEW_FOLDER = /(.*\/(?:acme|notes))\/.*/;

const copy = mkdtempSync(join(tmpdir(), 'pages-'));
beforeAll(() => {
  for (const part of ['src', 'test/contexts/tenants']) cpSync(part, join(copy, part), { recursive: true });
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe('the changes of a page of docs/extending', () => {
  it.each(APPLIED_PAGES)('%s fit the source, and are as few as promised', (page) => {
    const files = applyPage(readPage(page), copy).map((file) => file.replace(NEW_FOLDER, '$1'));
    expect(new Set(files).size).toBeLessThanOrEqual(MOST_FILES[page] ?? 0);
  });

  it('are refused where the lines around them are not in the source', () => {
    const page = '```diff file=src/memory/http/memories.dto.ts\n-export class None {\n+export class Other {\n```';
    expect(() => applyPage(page, copy)).toThrow(/line 2: .* has the lines of a change 0 times/);
  });
});
