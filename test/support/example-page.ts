import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';

const EXAMPLES = join(import.meta.dirname, '../extending/src');
const DOCUMENTS = join(import.meta.dirname, '../../docs');

/** The files of an example's context by their path, as its page in `docs/` shows them. */
export function filesShown(page: string, context: string): Map<string, string> {
  const text = readFileSync(join(DOCUMENTS, page), 'utf8');
  const shown = text.matchAll(new RegExp(`^\`src/${context}/(\\S+)\`[^\\n]*\\n\\n\`\`\`ts\\n(.*?)\`\`\`$`, 'gms'));
  return new Map([...shown].map(([, file = '', code = '']) => [file, code] as const).sort());
}

/** The same files as they are compiled; in the source tree the context would be a neighbour of the others. */
export async function filesOfExample(context: string): Promise<Map<string, string>> {
  const cwd = join(EXAMPLES, context);
  const files: [string, string][] = [];
  const config = await resolveConfig(join(EXAMPLES, 'example.ts'));
  for await (const file of glob('**/*.ts', { cwd })) {
    const code = readFileSync(join(cwd, file), 'utf8').replaceAll('../../../src/', '');
    // Shorter paths may let an import fit into one line.
    files.push([file, await format(code, { ...config, parser: 'typescript' })]);
  }
  return new Map(files.sort());
}
