import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from '@jest/globals';

const FOLDER = resolve('dist/bundle');
const STATIC_IMPORT = /\b(?:from|import)\s*"\.\/([\w.-]+\.js)"/g;

/** A text that only the package has. */
const MARKS = { PGlite: 'PGlite failed to initialize properly', Fastify: 'FST_ERR_REOPENED_SERVER' } as const;

/** The packages in the files of the bundle that are loaded with `parts`: parts of `src/` that are imported dynamically. */
function loadedWith(...parts: readonly string[]): string[] {
  const built = readdirSync(FOLDER);
  const waiting = parts.map((part) => {
    const file = built.find((name) => new RegExp(`^${part}-\\w+\\.js$`).test(name));
    if (file === undefined) throw new Error(`The bundle has no ${part}`);
    return file;
  });
  const loaded = new Map<string, string>();
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (loaded.has(file)) continue;
    const text = readFileSync(join(FOLDER, file), 'utf8');
    loaded.set(file, text);
    waiting.push(...[...text.matchAll(STATIC_IMPORT)].flatMap(([, imported]) => imported ?? []));
  }
  return Object.entries(MARKS).flatMap(([name, mark]) =>
    [...loaded.values()].some((text) => text.includes(mark)) ? [name] : [],
  );
}

it('a worker on PostgreSQL loads neither the embedded database nor the HTTP server', () => {
  expect(loadedWith('start', 'server-database', 'start-worker')).toEqual([]);
});

it('an API process on PostgreSQL loads the HTTP server and not the embedded database', () => {
  expect(loadedWith('start', 'server-database', 'start-http')).toEqual(['Fastify']);
});

it('the embedded default loads both', () => {
  expect(loadedWith('start', 'embedded-database', 'start-http').sort()).toEqual(['Fastify', 'PGlite']);
});
