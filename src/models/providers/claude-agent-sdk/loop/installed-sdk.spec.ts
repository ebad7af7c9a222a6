import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { InstalledSdk, SDK_VERSION, toolUseIdOf } from './installed-sdk.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'installed-sdk-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Has the layout of the real package, which does not export its package.json. */
function install(
  version: unknown,
  source = 'export const name = "installed";',
  programs: readonly string[] = [],
): void {
  const path = join(folder, 'node_modules/@anthropic-ai/claude-agent-sdk');
  mkdirSync(path, { recursive: true });
  const description = {
    name: '@anthropic-ai/claude-agent-sdk',
    version,
    type: 'module',
    exports: { '.': { default: './sdk.mjs' } },
    optionalDependencies: Object.fromEntries(programs.map((name) => [name, '1'])),
  };
  writeFileSync(join(path, 'package.json'), JSON.stringify(description));
  writeFileSync(join(path, 'sdk.mjs'), source);
}

const missing = (what: string): string =>
  `The Claude Agent SDK is missing on this installation: ${what}. Its operator installs it with: npm run install:claude-agent`;

describe('the installed package', () => {
  it('can be loaded in the version that the release needs', async () => {
    install(SDK_VERSION);
    const installed = new InstalledSdk(folder);
    expect(installed.missing).toBeNull();
    expect({ ...(await installed.load()) }).toEqual({ name: 'installed' });
  });

  it.each(['0.3.328', `${SDK_VERSION}-beta`])(
    'of version %s is named with the one that the release needs',
    (version) => {
      install(version);
      expect(new InstalledSdk(folder).missing).toBe(
        missing(`version ${version} is installed and this release needs ${SDK_VERSION}`),
      );
    },
  );

  it.each([undefined, 3])('whose version is %s counts as not installed', (version) => {
    install(version);
    expect(new InstalledSdk(folder).missing).toBe(missing('it is not installed'));
  });

  it('is reported as missing in an empty folder and in a missing folder, and cannot be loaded', async () => {
    for (const path of [folder, join(folder, 'none')]) {
      expect(new InstalledSdk(path).missing).toBe(missing('it is not installed'));
      await expect(new InstalledSdk(path).load()).rejects.toThrow('Cannot find module');
    }
  });

  it('is reported as missing until its program for this platform is installed', () => {
    const system = `${process.platform}-${process.arch}`;
    const program = `@anthropic-ai/claude-agent-sdk-${system}`;
    install(SDK_VERSION, '', [program, '@anthropic-ai/claude-agent-sdk-other-system']);
    expect(new InstalledSdk(folder).missing).toBe(missing(`its program for ${system} is not installed`));
    mkdirSync(join(folder, 'node_modules', program), { recursive: true });
    writeFileSync(join(folder, 'node_modules', program, 'package.json'), '{}');
    expect(new InstalledSdk(folder).missing).toBeNull();
  });

  it('is not loaded before it is used', () => {
    install(SDK_VERSION, 'throw new Error("loaded")');
    expect(new InstalledSdk(folder).missing).toBeNull();
  });
});

describe('the id of a tool call', () => {
  it('is read from its metadata, and is unknown without metadata', () => {
    expect(toolUseIdOf({ _meta: { 'claudecode/toolUseId': 'toolu_1', other: 1 }, signal: null })).toBe('toolu_1');
    for (const extra of [undefined, null, {}, { _meta: {} }, { _meta: { 'claudecode/toolUseId': 1 } }])
      expect(toolUseIdOf(extra)).toBeUndefined();
  });
});
