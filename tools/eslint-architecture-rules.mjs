// The architecture rules of docs/ARCHITECTURE.md about names. dependency-cruiser checks those about whole imports.
// Each is a separate rule (a rule of ESLint under the name of the architecture rule), so that the options of one never replace those
// of another. Each has a planted violation in test/architecture/fixtures/<rule>/.
import * as nest from '@nestjs/common';
import * as throttler from '@nestjs/throttler';
import { builtinRules } from 'eslint/use-at-your-own-risk';

const SOURCE = 'src/**/*.ts';
const CONTEXTS = 'src/!(platform)/**/*.ts';
const SPECS = '**/*.spec.ts';
const EGRESS_AND_RUNTIMES = ['src/platform/egress/**', 'src/models/providers/*/**'];

const isHttpException = (value) =>
  typeof value === 'function' && (value === nest.HttpException || value.prototype instanceof nest.HttpException);

/** The exceptions of a package with an HTTP status, read from its exports, so that none is missing. */
const httpExceptions = (name, exports) => ({
  name,
  importNames: Object.keys(exports).filter((key) => isHttpException(exports[key])),
  message: 'Throw a DomainError; platform/http maps it to the wire.',
});

const restrictSyntax = (message, ...selectors) => selectors.map((selector) => ({ selector, message }));

const CLOCK = 'Inject the Clock of platform/clock: tests decide what time it is.';
const RANDOMNESS = 'Randomness and ids come from platform/.';

const RULES = {
  'environment-in-config': {
    base: 'no-restricted-properties',
    options: [{ object: 'process', property: 'env', message: 'Settings are read and validated in platform/config.' }],
    files: [SOURCE],
    ignores: ['src/platform/config/**', SPECS],
  },
  'no-global-object': {
    base: 'no-restricted-globals',
    options: ['globalThis', 'global'].map((name) => ({
      name,
      message: 'The other rules do not check the global object; use the name directly.',
    })),
    files: [SOURCE],
    ignores: [SPECS],
  },
  'network-in-egress-and-runtimes': {
    base: 'no-restricted-globals',
    options: ['fetch', 'XMLHttpRequest', 'WebSocket', 'EventSource'].map((name) => ({
      name,
      message: 'Outbound requests go through platform/egress, which checks the address.',
    })),
    files: [SOURCE],
    ignores: [...EGRESS_AND_RUNTIMES, SPECS],
  },
  'clock-through-platform': {
    base: 'no-restricted-syntax',
    options: restrictSyntax(
      CLOCK,
      "NewExpression[callee.name='Date'][arguments.length=0]",
      "CallExpression[callee.name='Date']",
      "MemberExpression[object.name='Date'][property.name='now']",
      "MemberExpression[object.name='performance']",
      "MemberExpression[object.name='AbortSignal'][property.name='timeout']",
      'CallExpression[callee.name=/^set(Timeout|Interval)$/]',
    ),
    files: [CONTEXTS],
    ignores: [SPECS],
  },
  // Some code of the platform has no injected clock, and its durations must not jump with the wall clock.
  'durations-are-monotonic': {
    base: 'no-restricted-syntax',
    options: restrictSyntax(
      'Measure with Clock.monotonic or performance.now(): the wall clock can be set while something is measured.',
      "MemberExpression[object.name='Date'][property.name='now']",
      "NewExpression[callee.name='Date'][arguments.length=0]",
    ),
    files: ['src/platform/**/*.ts'],
    ignores: ['src/platform/clock/**', 'src/platform/ids/**', SPECS],
  },
  'randomness-through-platform': {
    base: 'no-restricted-syntax',
    options: restrictSyntax(
      RANDOMNESS,
      "MemberExpression[object.name='Math'][property.name='random']",
      "MemberExpression[object.name='crypto']",
    ),
    files: [CONTEXTS],
    ignores: [SPECS],
  },
  'crypto-without-randomness': {
    base: 'no-restricted-imports',
    options: [
      {
        paths: ['crypto', 'node:crypto'].map((name) => ({
          name,
          // These depend only on their arguments; all other functions of the module can use random bytes.
          allowImportNames: ['createHash', 'createHmac', 'timingSafeEqual'],
          message: RANDOMNESS,
        })),
      },
    ],
    files: [CONTEXTS],
    ignores: [SPECS],
  },
  'sql-in-sql-files': {
    base: 'no-restricted-syntax',
    options: restrictSyntax(
      'Use the entity manager; what it cannot say, or a measured hot path, is a statement() in persistence/<noun>.sql.ts.',
      "ImportDeclaration[source.value='kysely']",
      "CallExpression[callee.type='MemberExpression'][callee.property.name=/^(query|getConnection|getKysely)$/]",
      'CallExpression[callee.name=/^(statement|raw)$/]',
      "CallExpression[callee.property.name='execute'] > Literal[value=/\\s/]:first-child",
      "CallExpression[callee.property.name='execute'] > TemplateLiteral",
      "TaggedTemplateExpression[tag.name='sql']",
    ),
    files: [SOURCE],
    ignores: [
      ...['src/**/persistence/*.sql.ts', 'src/platform/*/*.sql.ts', 'src/platform/database/**', SPECS],
      // BullMQ's own statements, and VACUUM, which must run outside of a transaction.
      ...['src/platform/jobs/pglite-pool.ts', 'src/platform/maintenance/**'],
      // Here `query` is a function of other packages.
      'src/models/providers/*/**',
    ],
  },
  'http-exceptions-in-http': {
    base: 'no-restricted-imports',
    options: [
      {
        paths: [httpExceptions('@nestjs/common', nest), httpExceptions('@nestjs/throttler', throttler)],
        patterns: [{ regex: '^@nestjs/common/exceptions', message: 'Throw a DomainError; platform/http maps it.' }],
      },
    ],
    files: [SOURCE],
    ignores: ['src/platform/http/**', 'src/**/http/**', SPECS],
  },
};

export const ruleNames = Object.keys(RULES);

const plugin = {
  rules: Object.fromEntries(Object.entries(RULES).map(([name, { base }]) => [name, builtinRules.get(base)])),
};

/** One entry of a flat configuration per rule. */
export const architectureRules = Object.entries(RULES).map(([name, { options, files, ignores }]) => ({
  name: `architecture/${name}`,
  files,
  ignores,
  plugins: { architecture: plugin },
  rules: { [`architecture/${name}`]: ['error', ...options] },
}));
