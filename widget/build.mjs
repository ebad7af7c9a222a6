// Bundles the widget into one ES module: `node widget/build.mjs [--outdir <folder>]`. For the package itself (without
// --outdir) its type declarations come with it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/** Bytes, compressed: what a visitor's browser loads. */
const MAX_BYTES = 25_000;

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { values } = parseArgs({ options: { outdir: { type: 'string' } } });
const outdir = values.outdir ?? here('dist');

const { version } = JSON.parse(readFileSync(here('package.json'), 'utf8'));
if (!readFileSync(here('src/client/version.ts'), 'utf8').includes(`'${version}'`)) {
  throw new Error(`src/client/version.ts does not say ${version}, the version of package.json`);
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
if (length >= MAX_BYTES) throw new Error(`${file} has ${length} bytes compressed; the most is ${MAX_BYTES - 1}`);

if (values.outdir === undefined) {
  execFileSync(process.execPath, [here('../node_modules/typescript/bin/tsc'), '-p', here('tsconfig.build.json')], {
    stdio: 'inherit',
  });
}
