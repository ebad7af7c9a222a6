/**
 * Measures how much of real pages the service's reader and chunker keep, in this process and without a database:
 * `node bench/knowledge-quality/run-coverage.ts [--corpus <folder>] [--root <repository>] [--only <package>] [--all] [--examples <n>] [--page <key>]`.
 * `--root` measures another checkout of the source by the same rules; `--page` also prints the chunks of one page.
 */
import { mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import type * as Chunker from '../../src/knowledge/index/domain/chunker.ts';
import type * as Reader from '../../src/knowledge/parsing/application/formats/parse-content.ts';
import { CORPUS_FOLDER, fetchCorpus, filesOf, spread } from './corpus.ts';
import { coverageOf, coverageText, type PageCoverage, worstText } from './coverage.ts';
import { mainContentOf } from './main-content.ts';
import { PACKAGES } from './packages.ts';

const { values: options } = parseArgs({
  options: {
    corpus: { type: 'string', default: CORPUS_FOLDER },
    root: { type: 'string', default: join(import.meta.dirname, '../..') },
    only: { type: 'string' },
    page: { type: 'string' },
    all: { type: 'boolean', default: false },
    examples: { type: 'string', default: '2' },
  },
});

/** Compiles the current source each time. The output is below node_modules, so that imports of packages resolve. */
async function load(): Promise<{ readonly chunker: typeof Chunker; readonly reader: typeof Reader }> {
  const outdir = join(options.root, 'node_modules/.cache/knowledge-quality');
  mkdirSync(outdir, { recursive: true });
  const entryPoints = { chunker: sourceOf('chunker.ts'), reader: sourceOf('parse-content.ts') };
  await build({
    absWorkingDir: options.root,
    entryPoints,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  });
  const from = async (name: string): Promise<unknown> => import(pathToFileURL(join(outdir, `${name}.mjs`)).href);
  return { chunker: (await from('chunker')) as typeof Chunker, reader: (await from('reader')) as typeof Reader };
}

/** Finds the file in the measured checkout, which may have another layout. */
function sourceOf(name: string): string {
  const path = readdirSync(join(options.root, 'src/knowledge'), { recursive: true, encoding: 'utf8' }).find(
    (path) => basename(path) === name,
  );
  if (path === undefined) throw new Error(`${options.root} has no ${name} below src/knowledge`);
  return join('src/knowledge', path);
}

fetchCorpus(options.corpus, (line) => process.stderr.write(`${line}\n`));
const { chunker, reader } = await load();
const pages: PageCoverage[] = [];
for (const source of PACKAGES.filter(
  ({ name, covered }) => covered > 0 && (options.only === undefined || name === options.only),
)) {
  const files = filesOf(source, options.corpus);
  const chosen =
    options.page === undefined
      ? spread(files, options.all ? files.length : source.covered)
      : files.filter(({ key }) => key === options.page);
  for (const { key, name, content } of chosen) {
    const parsed = await reader.parseContent({
      content,
      contentType: 'text/html',
      name: null,
      url: `https://${source.name}.test/${name}`,
      formats: ['html'],
    });
    const chunks = [...chunker.chunksOf(parsed)];
    pages.push(coverageOf(key, mainContentOf(content.toString('utf8'), source.rules), chunks, parsed.title));
    if (options.page === undefined) continue;
    for (const { heading, text } of chunks) process.stdout.write(`--- ${heading ?? ''}\n${text}\n`);
  }
}
process.stdout.write(`${worstText(pages, Number(options.examples))}\n\n${coverageText(pages)}\n`);
