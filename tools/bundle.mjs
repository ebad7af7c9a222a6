// Bundles what a process loads: a start reads a few files instead of four thousand. Made of dist/, where every file stays as
// it was built: tests and benchmarks import those one by one. `dist/main.js` and the other entries become one line that loads
// their bundle.
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { build } from 'esbuild';

const FOLDER = resolve('dist/bundle');
/**
 * Bundled apart: of a context that it imports, a program gets what it uses alone (`sideEffects` in package.json), but
 * programs that are bundled together get what any of them uses.
 */
const PROGRAMS = [
  { main: 'dist/main.js', parser: 'dist/knowledge/parsing/child/main.js' },
  { cli: 'dist/cli.js' },
  { 'prepare-database': 'dist/prepare-database.js' },
];

/**
 * Nest finds the first two in ways that a bundle does not see, and there must be one copy of each. The last is no ES module and is
 * imported on demand by the names of its exports, which a bundle of it would not have.
 */
const LEFT_OUT = ['class-validator', 'class-transformer', 'class-transformer/*', 'https-proxy-agent'];

/** What the frameworks look for and do without. */
const ABSENT = ['@nestjs/microservices', '@nestjs/microservices/*', '@nestjs/websockets/*', '@nestjs/platform-express', '@fastify/view', '@fastify/static', 'pg-native', 'bufferutil', 'utf-8-validate'];

/** Source maps of packages are left out: they would be most of what an error's stack has to read. */
const NO_MAP = '\n//# sourceMappingURL=data:application/json,{"version":3,"sources":[""],"mappings":"A"}';

/** A module's own address is that of the file it was bundled from: what it looks for beside itself is there. */
const fromItsPlace = {
  name: 'from-its-place',
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?js$/ }, ({ path }) => {
      const address = `new URL(${JSON.stringify(relative(FOLDER, path))}, import.meta.url).href`;
      const contents = readFileSync(path, 'utf8').replaceAll('import.meta.url', address);
      return { contents: path.includes('/node_modules/') ? contents + NO_MAP : contents, loader: 'js' };
    });
  },
};

rmSync(FOLDER, { recursive: true, force: true });
for (const entries of PROGRAMS) {
  await build({
    entryPoints: entries,
    outdir: FOLDER,
    bundle: true,
    // What is loaded on demand stays so.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.17',
    minifyWhitespace: true,
    // Nest, the logger and errors tell classes by their names.
    keepNames: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'warning',
    external: [...ABSENT, ...LEFT_OUT],
    // For packages that are no ES modules.
    banner: { js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);" },
    plugins: [fromItsPlace],
  });
}
for (const [name, entry] of Object.entries(Object.assign({}, ...PROGRAMS))) {
  const bundle = relative(dirname(resolve(entry)), resolve(FOLDER, `${name}.js`));
  // Tests that change classes before a program runs load it with these.
  renameSync(entry, entry.replace(/\.js$/, '.unbundled.js'));
  writeFileSync(entry, `import '${bundle.startsWith('.') ? bundle : `./${bundle}`}';\n`);
}
