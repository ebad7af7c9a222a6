// Bundles the widget into one ES module: `node widget/build.mjs [--outdir <folder>]`. Without --outdir it also makes the type
// declarations of the package.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** Compressed size that a visitor's browser loads. */
const MAX_BYTES = 25_000;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values } = parseArgs({ options: { outdir: { type: 'string' } } });
const outdir = values.outdir ?? here('dist');

const { version } = JSON.parse(readFileSync(here('package.json'), 'utf8'));
if (!readFileSync(here('src/client/version.ts'), 'utf8').includes(`'${version}'`)) {
  throw new Error(`src/client/version.ts must contain ${version}, the version of package.json`);
}

const file = `${outdir}/agent-chat.js`;
await build({
  entryPoints: [here('src/index.ts')],
  outfile: file,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  banner: { js: `/* agent-chat ${version} */` },
});

const { length } = gzipSync(readFileSync(file), { level: 9 });
if (length >= MAX_BYTES)
  throw new Error(`${file} has ${length} compressed bytes; at most ${MAX_BYTES - 1} are allowed`);

if (values.outdir === undefined) {
  execFileSync(process.execPath, [here('../node_modules/typescript/bin/tsc'), '-p', here('tsconfig.build.json')], {
    stdio: 'inherit',
  });
}
