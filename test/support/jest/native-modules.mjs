// How Node loads what the tests import: their own TypeScript is compiled on its way in, and what they import of src/
// is the service as it was built, the very files that run in production.
import { transformSync } from '@swc/core';
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = new URL('../../../', import.meta.url);
const source = new URL('src/', root).href;
const built = new URL('dist/', root).href;
const tests = new URL('test/', root).href;
const widget = new URL('widget/src/', root).href;

/** As the build has it, which leaves out the tests beside the source. */
const { exclude: _tests, ...buildOptions } = JSON.parse(readFileSync(new URL('.swcrc', root), 'utf8'));
const compilation = { ...buildOptions, swcrc: false, sourceMaps: 'inline' };

// Errors name the place in the source.
process.setSourceMapsEnabled(true);

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') return { url: new URL('globals.mjs', import.meta.url).href, shortCircuit: true };
    if (!isOfTests(context.parentURL) || !/^\.{1,2}\/.*\.js$/.test(specifier)) return next(specifier, context);
    return { url: fileOf(new URL(specifier, context.parentURL).href), shortCircuit: true };
  },
  load(url, context, next) {
    if (!isOfTests(url) || !url.endsWith('.ts')) return next(url, context);
    const filename = fileURLToPath(url);
    const { code } = transformSync(readFileSync(filename, 'utf8'), { ...compilation, filename });
    return { format: 'module', source: code, shortCircuit: true };
  },
});

/** Loads a test file, under the same hooks. */
export function loadNatively(path) {
  return import(pathToFileURL(path).href);
}

function isOfTests(url = '') {
  return [tests, source, widget].some((folder) => url.startsWith(folder));
}

/** @param {string} url of a module, ending with .js as imports name it */
function fileOf(url) {
  const candidates = [url.replace(source, built), url.replace(/\.js$/, '.ts')];
  return candidates.find((candidate) => existsSync(fileURLToPath(candidate))) ?? url;
}
