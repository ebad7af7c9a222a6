// The architecture rules of docs/ARCHITECTURE.md that show in names rather than in whole imports, which dependency-cruiser sees.
// Each is a rule of its own (ESLint's own rule under the name of the architecture rule), so that one rule's options never replace
// another's. Each has a planted violation in test/architecture/fixtures/<rule>/.
import * as nest from '@nestjs/common';
import * as throttler from '@nestjs/throttler';
import { builtinRules } from 'eslint/use-at-your-own-risk';

const SOURCE = 'src/**/*.ts';
const CONTEXTS = 'src/!(platform)/**/*.ts';
const SPECS = '**/*.spec.ts';
const EGRESS_AND_RUNTIMES = ['src/platform/egress/**', 'src/models/providers/*/**'];

const isHttpException = (value) =>
  typeof value === 'function' && (value === nest.HttpException || value.prototype instanceof nest.HttpException);

/** The exports of a package that answer HTTP when thrown; read from the package, so that none is forgotten. */
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
      message: 'What is reached through the global object slips past the other rules; name it directly.',
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
  // The adapters below the Clock port have no clock injected; what they measure must not jump with the wall's.
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
          // Functions of their arguments alone; everything else in the module draws random bytes or can.
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
      // BullMQ's own statements, and VACUUM, which the embedded database takes outside of any transaction.
      ...['src/platform/jobs/pglite-pool.ts', 'src/platform/maintenance/**'],
      // `query` is a call of other packages here.
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
