import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import tseslint from 'typescript-eslint';
import { PROVIDER_TYPES } from '../../src/models/index.js';

/*
 * A provider is one folder of src/models/providers and one entry of the list there. Code elsewhere that names one is a
 * switch over providers, and one more place to change with the next provider. Comments may name them.
 */

const PROVIDERS = 'src/models/providers/';

/** File and name, with the reason why it stands there. */
const ALLOWED: Readonly<Record<string, string>> = {
  'src/access/domain/feature.ts: claude-agent-sdk':
    'A feature of organizations, which operators set by this name; the provider names it as the one that it needs.',
  'src/agents/http/agents.controller.ts: anthropic':
    'An example in the OpenAPI document, which has to name some provider.',
  'src/demo/application/demo-examples.ts: anthropic': 'The agents that the examples of the OpenAPI document are about.',
  'src/demo/application/demo-examples.ts: claude-agent-sdk':
    'The demo switches on every feature of its organization, this one by its name.',
};

const spelled = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Providers that a text of the source names: whole or as a part, however it is spelled. */
function namesIn(source: string): string[] {
  const letters = spelled(source);
  const types = PROVIDER_TYPES.filter((type) => letters.includes(spelled(type)));
  // Most files have none, in comments neither; parsing them all takes seconds.
  if (types.length === 0) return [];
  const { tokens } = tseslint.parser.parseForESLint(source).ast as {
    readonly tokens: readonly { readonly value: string }[];
  };
  return types.filter((type) => tokens.some(({ value }) => spelled(value).includes(spelled(type))));
}

async function sources(): Promise<string[]> {
  const files: string[] = [];
  for await (const file of glob('src/**/*.ts')) if (!file.endsWith('.spec.ts')) files.push(file);
  return files.filter((file) => !file.startsWith(PROVIDERS)).sort();
}

describe('a provider is named', () => {
  it('in its own folder and the list alone', async () => {
    const found = (await sources()).flatMap((file) =>
      namesIn(readFileSync(file, 'utf8')).map((name) => `${file}: ${name}`),
    );
    expect(found).toEqual(Object.keys(ALLOWED));
  });

  it.each([
    "if (type === 'gemini') run();",
    'switch (type) { case "openai-responses": run(); }',
    'const limits = { anthropic: 1 };',
    'const text = `for ${who} and claude-agent-sdk agents`;',
    "features.has('claude_agent_sdk');",
    'settings.ANTHROPIC_API_KEY;',
    'new OpenAiResponsesRuntime();',
  ])('and elsewhere it is found: %s', (source) => {
    expect(namesIn(source)).toHaveLength(1);
  });

  it('and may be in a comment', () => {
    expect(namesIn('// As anthropic does it.\nrun(); /* gemini */')).toEqual([]);
  });
});
