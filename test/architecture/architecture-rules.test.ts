import { readFileSync } from 'node:fs';
import { glob, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, relative } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { cruise, type IConfiguration, type ICruiseResult } from 'dependency-cruiser';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';

/*
 * Each rule has a small source tree of its own in fixtures/<rule>/. Files named planted-* break the rule, each in
 * another way; all others show what it must let pass.
 */

const ROOT = process.cwd();
const FIXTURES = join(ROOT, 'test/architecture/fixtures');

const configuration = createRequire(import.meta.url)(join(ROOT, '.dependency-cruiser.cjs')) as IConfiguration;
const importRules = (configuration.forbidden ?? []).map((rule) => rule.name ?? '');
const { ruleNames } = (await import(join(ROOT, 'tools/eslint-architecture-rules.mjs'))) as { ruleNames: string[] };

interface Report {
  readonly rule: string;
  readonly file: string;
}

/** Cruises `src` of a tree with the project's rules. */
async function brokenImports(baseDir: string): Promise<Report[]> {
  const { output } = await cruise(['src'], {
    ...configuration.options,
    baseDir,
    ruleSet: { forbidden: configuration.forbidden },
    validate: true,
  });
  const { violations } = (output as ICruiseResult).summary;
  return violations.map(({ rule, from }) => ({ rule: rule.name, file: from }));
}

async function filesBelow(directory: string, pattern: string): Promise<string[]> {
  const files: string[] = [];
  for await (const file of glob(pattern, { cwd: directory })) files.push(file);
  return files.sort();
}

/** Without types, so that a text can be linted under the name of a file that does not exist; `npm run lint` has all the other rules. */
const eslint = new ESLint({
  cwd: ROOT,
  overrideConfig: [tseslint.configs.disableTypeChecked],
  ruleFilter: ({ ruleId }) => ruleId.startsWith('architecture/'),
});

/** Lints every file of a tree as if it stood in the project's own `src`. */
async function brokenNames(tree: string): Promise<Report[]> {
  const reports: Report[] = [];
  for (const file of await filesBelow(tree, 'src/**/*.ts')) {
    const results = await eslint.lintText(readFileSync(join(tree, file), 'utf8'), { filePath: join(ROOT, file) });
    const messages = results.flatMap((result) => result.messages);
    expect(messages.filter((message) => message.fatal)).toEqual([]);
    const rules = messages.map((message) => message.ruleId ?? '').filter((rule) => rule.startsWith('architecture/'));
    reports.push(...[...new Set(rules)].map((rule) => ({ rule: rule.slice('architecture/'.length), file })));
  }
  return reports;
}

async function expectExactlyThePlanted(rule: string, reports: readonly Report[]): Promise<void> {
  const files = await filesBelow(join(FIXTURES, rule), 'src/**/*.ts');
  const planted = files.filter((file) => basename(file).startsWith('planted-'));
  expect(planted).not.toEqual([]);
  expect(new Set(reports.map((report) => report.rule))).toEqual(new Set([rule]));
  expect([...new Set(reports.map((report) => report.file))].sort()).toEqual(planted);
}

describe('the example of docs/extending/context.md', () => {
  const example = join(ROOT, 'test/extending');

  it('breaks no rule', async () => {
    expect(await brokenImports(example)).toEqual([]);
    expect(await brokenNames(example)).toEqual([]);
  });

  it('imports other contexts and the platform through their public APIs alone', async () => {
    const files = await filesBelow(example, 'src/**/*.ts');
    const imports = files.flatMap((file) => [
      ...readFileSync(join(example, file), 'utf8').matchAll(/from '(?:\.\.\/)+src\/(.*)'/g),
    ]);
    expect(imports.length).toBeGreaterThan(10);
    for (const [, path] of imports) expect(path).toMatch(/^(platform\/)?[a-z-]+\/index\.js$/);
  });
});

// That it breaks none is for `npm run arch` and `npm run lint` to tell.
describe('the source', () => {
  it('switches no rule off in a comment', async () => {
    const files = await filesBelow(ROOT, 'src/**/*.ts');
    const switchesOff = (file: string): boolean =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        // Without a rule's name the comment switches off all of them.
        .some((line) => /eslint-disable(-next-line|-line)?(\s+[^-].*architecture\/|\s*(--|\*\/|$))/.test(line));
    expect(files.filter(switchesOff)).toEqual([]);
  });
});

describe('a planted violation is reported by its rule alone', () => {
  it.each(importRules)('%s', async (rule) => {
    await expectExactlyThePlanted(rule, await brokenImports(join(FIXTURES, rule)));
  });

  it.each(ruleNames)('%s', async (rule) => {
    await expectExactlyThePlanted(rule, await brokenNames(join(FIXTURES, rule)));
  });

  it('exists for every rule, and for nothing that is no rule', async () => {
    const planted = (await readdir(FIXTURES)).map((directory) => relative('', directory));
    expect(planted.sort()).toEqual([...importRules, ...ruleNames].sort());
  });
});
