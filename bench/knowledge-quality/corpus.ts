import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { MARKDOWN_OF_MODULES, type Package, PACKAGES } from './packages.ts';

const ROOT = join(import.meta.dirname, '../..');
export const CORPUS_FOLDER = join(ROOT, 'node_modules/.cache/knowledge-corpus');

/** A file of the corpus. */
export interface CorpusFile {
  /** Its name in questions: the package and the path below its folder. */
  readonly key: string;
  readonly name: string;
  readonly content: Buffer;
}

/**
 * Downloads the missing packages with apt.
 * @throws Error with the names of packages that cannot be downloaded
 */
export function fetchCorpus(folder: string, writeLine: (line: string) => void): void {
  const missing: string[] = [];
  for (const { name, folder: inside } of PACKAGES) {
    if (existsSync(join(folder, name, inside))) continue;
    writeLine(`fetching ${name}`);
    const fetched = join(folder, 'fetched');
    rmSync(fetched, { recursive: true, force: true });
    mkdirSync(fetched, { recursive: true });
    try {
      execFileSync('apt-get', ['download', name], { cwd: fetched, stdio: ['ignore', 'ignore', 'pipe'] });
      const [archive = ''] = readdirSync(fetched);
      const tar = execFileSync('dpkg-deb', ['--fsys-tarfile', join(fetched, archive)], { maxBuffer: 2 ** 30 });
      mkdirSync(join(folder, name), { recursive: true });
      execFileSync('tar', ['-x', '-C', join(folder, name), `./${inside}`], {
        input: tar,
        stdio: ['pipe', 'ignore', 'pipe'],
      });
    } catch (error) {
      writeLine(error instanceof Error ? error.message : String(error));
      missing.push(name);
    }
    rmSync(fetched, { recursive: true, force: true });
  }
  if (missing.length > 0)
    throw new Error(
      `No corpus: apt-get cannot fetch ${missing.join(', ')} (has "apt-get update" been run on a Debian 12?)`,
    );
}

/** The files of a package, ordered by path. */
export function filesOf({ name, folder: inside, taken, left }: Package, folder: string): CorpusFile[] {
  const root = join(folder, name, inside);
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => taken.test(path) && left?.test(path) !== true)
    .sort();
  return paths.map((path) => fileOf(name, path, readFileSync(join(root, path))));
}

export function markdownFiles(): CorpusFile[] {
  return MARKDOWN_OF_MODULES.map((name) =>
    fileOf(name, 'README.md', readFileSync(join(ROOT, 'node_modules', name, 'README.md'))),
  );
}

function fileOf(source: string, path: string, content: Buffer): CorpusFile {
  const isPacked = path.endsWith('.gz');
  return {
    key: `${source}/${path}`,
    name: isPacked ? path.slice(0, -'.gz'.length) : path,
    content: isPacked ? gunzipSync(content) : content,
  };
}

/** Some of the values, evenly spread. */
export function spread<Item>(items: readonly Item[], count: number): Item[] {
  if (count >= items.length) return [...items];
  return Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)] as Item);
}
