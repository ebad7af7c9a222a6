// Bundles the widget into ES modules: `node widget/build.mjs [--outdir <folder>]`. With --outdir only the widget, which the
// service serves: agent-chat.js, and beside it the chunks that it imports when they are needed. Otherwise everything that the
// package exports, with type declarations.
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** Compressed size that a visitor's browser loads before the widget is drawn: the entry and the texts of one language. */
const MAX_BYTES = 30_000;
const ENTRY = 'agent-chat';

const root = fileURLToPath(new URL('.', import.meta.url));
const here = (path) => resolve(root, path);
const { values } = parseArgs({ options: { outdir: { type: 'string' } } });
const outdir = resolve(values.outdir ?? here('dist'));

const { version, exports } = JSON.parse(readFileSync(here('package.json'), 'utf8'));
if (!readFileSync(here('src/client/version.ts'), 'utf8').includes(`'${version}'`)) {
  throw new Error(`src/client/version.ts must contain ${version}, the version of package.json`);
}

/** The name and source of each output, from the exports of the package: `./react` is src/react.ts or react/index.ts. */
const entries = Object.entries(exports).map(([path, { default: output }]) => {
  const name = path === '.' ? 'index' : path.slice('./'.length);
  const sources = [`src/${name}.ts`, `src/${name}.tsx`, `${name}/index.ts`];
  const source = sources.map(here).find((file) => existsSync(file));
  if (source === undefined) throw new Error(`package.json exports ${path}, but there is none of ${sources.join(', ')}`);
  return { out: basename(output, '.js'), in: source };
});

// Chunks of an earlier build have other names, so they would stay.
for (const old of globSync('widget-*.js', { cwd: outdir })) rmSync(resolve(outdir, old));
const settings = {
  outdir,
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  chunkNames: 'widget-[name]-[hash]',
  external: ['react'],
  minify: true,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  banner: { js: `/* agent-chat ${version} */` },
  metafile: true,
};

/*
 * Modules that are loaded when they are needed, each a bundle of its own, with copies of what it shares with others: esbuild would move
 * that to files that the entry imports at once, and a page would load them one after the other. Later ones import earlier ones.
 */
const APART = ['highlight', 'math', 'panel'].map((name) => `src/view/${name}.ts`);
const built = new Map();
const importApart = {
  name: 'import-apart',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\/.*\.js$/ }, ({ path, kind }) => {
      const file = kind === 'dynamic-import' ? built.get(basename(path, '.js')) : undefined;
      return file === undefined ? undefined : { path: `./${file}`, external: true };
    });
  },
};
const settingsApart = { ...settings, plugins: [importApart] };
for (const source of APART) {
  const { metafile } = await build({
    ...settingsApart,
    entryPoints: [here(source)],
    entryNames: 'widget-[name]-[hash]',
  });
  const [file] = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === source);
  built.set(basename(source, '.ts'), basename(file));
}
const { metafile } = await build({
  ...settingsApart,
  entryPoints: values.outdir === undefined ? entries : entries.filter(({ out }) => out === ENTRY),
});

/** By their paths from this folder. */
const { outputs } = metafile;

/** The files that a browser loads with one: itself and what it imports statically. */
function loadedWith(file, seen = new Set()) {
  if (seen.has(file)) return seen;
  seen.add(file);
  for (const { path, kind } of outputs[file].imports) if (kind === 'import-statement') loadedWith(path, seen);
  return seen;
}

const compressedSize = (files) =>
  files.reduce((sum, file) => sum + gzipSync(readFileSync(here(file)), { level: 9 }).length, 0);

function checkSize() {
  const files = Object.keys(outputs);
  const first = loadedWith(files.find((file) => basename(file) === `${ENTRY}.js`));
  const language = files
    .filter((file) => outputs[file].entryPoint?.startsWith('src/languages/'))
    .map((file) => ({ file, size: compressedSize([...loadedWith(file)].filter((each) => !first.has(each))) }))
    .reduce((largest, each) => (each.size > largest.size ? each : largest), { file: 'no language', size: 0 });
  const size = compressedSize([...first]);
  if (size + language.size < MAX_BYTES) return;
  throw new Error(
    `The widget has ${size + language.size} compressed bytes, and must have less than ${MAX_BYTES}: ` +
      `${size} of ${[...first].join(', ')}, ${language.size} of ${language.file}`,
  );
}

checkSize();

if (values.outdir === undefined) {
  for (const project of ['tsconfig.build.json', 'server/tsconfig.build.json']
    .map(here)
    .filter((file) => existsSync(file))) {
    execFileSync(process.execPath, [here('../node_modules/typescript/bin/tsc'), '-p', project], { stdio: 'inherit' });
  }
}
