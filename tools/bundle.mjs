// Bundles the code that a process loads, so that a start reads a few files instead of four thousand. The source is dist/, where
// every file stays as it was built, because tests and benchmarks import single files. `dist/main.js` and the other entries become
// a few lines that load their bundle.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { keepFunctionsYoung } from './young-functions.mjs';

const FOLDER = resolve('dist/bundle');
/**
 * Groups with a bundle each. A group gets only those parts of a context that it uses (`sideEffects` in package.json), but all
 * programs of a group get what any of them uses.
 */
const PROGRAMS = [
  { main: 'dist/main.js', parser: 'dist/knowledge/parsing/application/child/main.js' },
  { cli: 'dist/cli.js' },
  { 'prepare-database': 'dist/prepare-database.js' },
];

/**
 * Nest loads the first two with calls that the bundler does not see, and a process must have one copy of each. The last is not an
 * ES module and is imported dynamically by the names of its exports, which a bundle of it would lose.
 */
const LEFT_OUT = ['class-validator', 'class-transformer', 'class-transformer/*', 'https-proxy-agent'];

/** Optional packages of the frameworks, which are not installed. */
const ABSENT = [
  '@nestjs/microservices',
  '@nestjs/microservices/*',
  '@nestjs/websockets/*',
  '@nestjs/platform-express',
  '@fastify/view',
  '@fastify/static',
  'pg-native',
  'bufferutil',
  'utf-8-validate',
];

/** An empty source map, for packages: their maps would be most of what Node reads for the stack of an error. */
const NO_MAP = '\n//# sourceMappingURL=data:application/json,{"version":3,"sources":[""],"mappings":"A"}';

/** A file as it is bundled. The programs share many of them. */
const loaded = new Map();

function load(path) {
  // So that a module finds the files beside itself.
  const address = `new URL(${JSON.stringify(relative(FOLDER, path))}, import.meta.url).href`;
  const contents = keepFunctionsYoung(readFileSync(path, 'utf8').replaceAll('import.meta.url', address));
  return { contents: path.includes('/node_modules/') ? contents + NO_MAP : contents, loader: 'js' };
}

const loadFiles = {
  name: 'load-files',
  setup({ onLoad }) {
    onLoad({ filter: /\.[cm]?js$/ }, ({ path }) => {
      if (!loaded.has(path)) loaded.set(path, load(path));
      return loaded.get(path);
    });
  },
};

/** An older Node would fail at the first import that it lacks, and print a line of the bundle, which is the whole file. */
const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
const [MAJOR, MINOR] = engines.node.match(/\d+/g).map(Number);
const CHECK_NODE = `const [major, minor] = process.versions.node.split('.').map(Number);
if (major < ${MAJOR} || (major === ${MAJOR} && minor < ${MINOR})) {
  process.stderr.write(\`This program needs Node ${MAJOR}.${MINOR} or later; this is Node \${process.versions.node}\\n\`);
  process.exit(1);
}
`;

const NAME_ALL = 'var __name=(target,value)=>__defProp(target,"name",{value,configurable:true});';
const NAME_CLASSES =
  'var __name=(target,value)=>typeof target==="string"?__defProp(value,"name",{value:target,configurable:true}):target;';

/**
 * To define the name of a function at each creation of a closure takes 7 % of a run. For classes the arguments are swapped, by which
 * the helper recognizes them without moving a column of the source map.
 */
function nameOnlyClasses(code) {
  return code
    .replace(/static\{__name\(this,("(?:[^"\\]|\\.)*")\)\}/g, 'static{__name($1,this)}')
    .replace(NAME_ALL, NAME_CLASSES);
}

rmSync(FOLDER, { recursive: true, force: true });
for (const entries of PROGRAMS) {
  const { outputFiles } = await build({
    entryPoints: entries,
    outdir: FOLDER,
    bundle: true,
    // Dynamic imports stay dynamic.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.17',
    minifyWhitespace: true,
    // Nest, the logger and errors use the names of classes; `nameOnlyClasses` removes the names of functions.
    keepNames: true,
    write: false,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'warning',
    external: [...ABSENT, ...LEFT_OUT],
    // For packages that are not ES modules.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    plugins: [loadFiles],
  });
  mkdirSync(FOLDER, { recursive: true });
  if (!outputFiles.some(({ text }) => text.includes(NAME_ALL)))
    throw new Error('esbuild names functions in another way than `nameOnlyClasses` expects');
  for (const { path, contents, text } of outputFiles)
    writeFileSync(path, path.endsWith('.js') ? nameOnlyClasses(text) : contents);
}
for (const [name, entry] of Object.entries(Object.assign({}, ...PROGRAMS))) {
  const bundle = relative(dirname(resolve(entry)), resolve(FOLDER, `${name}.js`));
  // For tests that change classes before a program runs.
  renameSync(entry, entry.replace(/\.js$/, '.unbundled.js'));
  writeFileSync(entry, `${CHECK_NODE}await import('${bundle.startsWith('.') ? bundle : `./${bundle}`}');\n`);
}
