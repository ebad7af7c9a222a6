import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { InvalidSetting, readSettings } from '../../platform/config/index.js';
import { builtInApps } from './built-in-apps.js';
import { catalogueEntry } from './catalogue-entry.js';
import { AppCatalogue } from './app-catalogue.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'catalogue-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function catalogueOf(environment: Readonly<Record<string, string>>): AppCatalogue {
  return new AppCatalogue(readSettings(environment, { role: 'all', demo: false }));
}

/** With a file of the operator. */
function catalogueWith(content: unknown): AppCatalogue {
  const path = join(folder, 'apps.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return catalogueOf({ MCP_CATALOGUE: path });
}

const LOCAL = { slug: 'notes', name: 'Notes', transport: 'local', command: 'notes-server' };
const REMOTE = { slug: 'crm', name: 'CRM', transport: 'remote', url: 'http://crm.internal:8080/mcp' };

describe("the project's catalogue", () => {
  it('follows the rules for operators, with unique slugs', () => {
    expect(new Set(builtInApps.map(({ slug }) => slug)).size).toBe(builtInApps.length);
    for (const { oauth, ...entry } of builtInApps) {
      const given = entry.transport === 'remote' ? { ...entry, oauth } : entry;
      expect(catalogueEntry.parse(given)).toEqual({ oauth, ...entry });
    }
  });

  it('has at least a dozen remote apps over https, and two installed local ones', () => {
    const remote = builtInApps.filter((entry) => entry.transport === 'remote');
    expect(remote.length).toBeGreaterThanOrEqual(12);
    for (const { url } of remote) expect(url).toMatch(/^https:\/\//);
    const local = builtInApps.filter((entry) => entry.transport === 'local');
    expect(local.map(({ slug }) => slug)).toEqual(['everything', 'memory']);
    for (const { command, args } of local)
      expect([existsSync(command), existsSync(args.at(-1) ?? '')]).toEqual([true, true]);
  });
});

describe('MCP_CATALOGUE', () => {
  it('adds apps, and replaces those of the same slug', () => {
    const catalogue = catalogueWith({ apps: [LOCAL, { ...REMOTE, slug: 'linear' }] });
    expect(catalogue.all()).toHaveLength(builtInApps.length + 1);
    expect(catalogue.find('linear')).toMatchObject({ url: REMOTE.url, oauth: false, transportType: 'streamableHttp' });
    expect(catalogue.find('notes')).toEqual({ ...LOCAL, oauth: false, args: [], env: {}, envNames: [] });
    const slugs = catalogue.all().map(({ slug }) => slug);
    expect(slugs).toEqual([...slugs].sort());
    expect(catalogue.find('unknown')).toBeUndefined();
  });

  const canary = 'value-canary';
  it.each([
    ['a slug with capitals', [{ ...LOCAL, slug: 'Notes' }], 'entry 1 (Notes): slug: '],
    ['a slug twice', [LOCAL, REMOTE, LOCAL], 'entry 3 (notes): slug: is the slug of an earlier entry'],
    ['no name', [LOCAL, { ...REMOTE, name: undefined }], 'entry 2 (crm): name: '],
    ['another transport', [{ ...REMOTE, transport: canary }], 'entry 1 (crm): transport: '],
    [
      'a URL of another kind',
      [{ ...REMOTE, url: `ftp://${canary}` }],
      'entry 1 (crm): url: must be an http or https URL',
    ],
    ['an unknown field', [{ ...REMOTE, more: canary }], 'entry 1 (crm): '],
    [
      'names for an app that people authorize',
      [{ ...REMOTE, oauth: true, envNames: ['KEY'] }],
      'entry 1 (crm): envNames: must be empty',
    ],
    [
      'a name that is not declared',
      [{ ...REMOTE, headers: { 'x-key': '${KEY}' } }],
      'entry 1 (crm): headers: must not use',
    ],
    ['a name that is not used', [{ ...REMOTE, envNames: ['KEY'] }], 'entry 1 (crm): envNames: must not hold'],
    ['a header that is none', [{ ...REMOTE, headers: { 'x key': canary } }], 'entry 1 (crm): headers: '],
    ['a relative program', [{ ...LOCAL, command: './notes' }], 'entry 1 (notes): command: must be the name'],
    [
      'a variable that programs obey',
      [{ ...LOCAL, envNames: ['LD_PRELOAD'] }],
      'entry 1 (notes): envNames: 0: must not be',
    ],
    ['no object', ['text'], 'entry 1: '],
  ])('stops the start in one line that names the entry with %s', (_what, apps, said) => {
    expect(() => catalogueWith({ apps })).toThrow(InvalidSetting);
    expect(() => catalogueWith({ apps })).toThrow(`MCP_CATALOGUE: ${said}`);
    expect(() => catalogueWith({ apps })).toThrow(/^[^\n]*$/);
    expect(() => catalogueWith({ apps })).not.toThrow(canary);
  });

  it.each([[`{"apps": [${canary}`], ['[]'], ['{}'], ['{"apps": [], "more": 1}']])(
    'stops the start in one line where the file is %j',
    (content) => {
      expect(() => catalogueWith(content)).toThrow(/^MCP_CATALOGUE: the file [^\n]*$/);
      expect(() => catalogueWith(content)).not.toThrow(canary);
    },
  );

  it('stops the start if the file does not exist', () => {
    const path = join(folder, 'missing.json');
    expect(() => catalogueOf({ MCP_CATALOGUE: path })).toThrow(
      `MCP_CATALOGUE: the file "${path}" cannot be read (ENOENT)`,
    );
  });
});
