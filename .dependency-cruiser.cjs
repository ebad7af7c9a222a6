/**
 * The architecture rules of docs/ARCHITECTURE.md that show in imports; those that show in names are in tools/eslint-architecture-rules.mjs.
 * Every rule has a planted violation in test/architecture/fixtures/<rule>/, which test/architecture/architecture-rules.test.ts
 * expects it, and it alone, to report.
 */

/** A folder directly under src, except platform; its name is the first group. */
const CONTEXT = '^src/(?!platform/)([^/]+)/';
/** The files directly under src: main.ts, start.ts, cli.ts, app.module.ts and others. */
const COMPOSITION_ROOT = '^src/[^/]+\\.ts$';
const PUBLIC_API = '^src/[^/]+/index\\.ts$';
/** The declarations of commands, which the command line imports without loading their context. */
const COMMANDS = '^src/.+/operator/[^/]+-commands\\.ts$';
const ALL_COMMANDS = '^src/.+/[^/]+-commands\\.ts$';
const MODEL_RUNTIMES = '^src/models/providers/[^/]+/';
/** Stands beside the source, but may reach for what it needs to check it. */
const SPEC = '\\.spec\\.ts$';

const builtin = (...names) => `^(node:)?(${names.join('|')})$`;
const packages = (...names) => `(^|/)node_modules/(${names.join('|')})/`;

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    rule(
      'context-through-public-api',
      'A context imports another context only through its index.ts, so that what is behind it can change.',
      { path: CONTEXT },
      { path: CONTEXT, pathNot: ['^src/$1/', PUBLIC_API] },
    ),
    rule(
      'knowledge-modules-point-down',
      'Sources of knowledge use the index and the parser, the index uses the parser; no source knows another, and no arrow runs back up.',
      { path: '^src/knowledge/(website|drive|uploads|index|parsing)/' },
      {
        path: '^src/knowledge/(?:website|drive|uploads|index|parsing)/',
        pathNot: ['^src/knowledge/$1/', '^src/knowledge/parsing/', '^src/knowledge/index/'],
      },
    ),
    rule(
      'knowledge-parser-stands-alone',
      'The parser knows no other module of knowledge.',
      { path: '^src/knowledge/parsing/' },
      { path: '^src/knowledge/', pathNot: '^src/knowledge/parsing/' },
    ),
    rule(
      'composition-root-uses-public-apis',
      'The composition root lists contexts; it does not know what is inside them.',
      { path: COMPOSITION_ROOT },
      { path: CONTEXT, pathNot: [PUBLIC_API, COMMANDS] },
    ),
    rule(
      'composition-root-is-not-imported',
      'main.ts, start.ts, cli.ts and app.module.ts know everybody; whoever imports them knows everybody too.',
      { path: '^src/[^/]+/' },
      { path: COMPOSITION_ROOT },
    ),
    rule(
      'no-cycles',
      'Modules in a cycle cannot be understood, tested or moved one without the other; types count.',
      { path: '^src/' },
      { circular: true },
    ),
    rule(
      'domain-without-framework',
      'Rules of the business stay readable and testable without the framework.',
      { path: '^src/.+/domain/' },
      {
        path: packages(
          ...['@nestjs', 'nestjs-[^/]+', 'fastify', '@fastify', 'rxjs'],
          ...['class-validator', 'reflect-metadata'],
        ),
      },
    ),
    rule(
      'domain-without-orm',
      'An entity of the domain does not know how it is stored.',
      { path: '^src/.+/domain/' },
      { path: packages('@mikro-orm', 'kysely') },
    ),
    rule(
      'domain-without-http-or-persistence',
      'http/ and persistence/ translate the domain; the domain knows neither, in its context or in platform/.',
      { path: '^src/.+/domain/' },
      { path: ['^src/.+/(http|persistence)/', '^src/platform/(http|database)/'] },
    ),
    rule(
      'platform-without-contexts',
      'platform/ holds no business: everybody stands on it, it stands on nobody.',
      { path: '^src/platform/' },
      { path: CONTEXT },
    ),
    rule(
      'outside-world-through-platform',
      'Files, sockets, processes, timers, ids, database and queue have one adapter per mode, all of them in platform/.',
      { path: CONTEXT, pathNot: SPEC },
      {
        path: [
          builtin(
            ...['fs', 'fs/promises', 'sqlite', 'net', 'tls', 'dgram', 'dns', 'dns/promises'],
            ...['child_process', 'cluster', 'worker_threads', 'os', 'perf_hooks', 'timers', 'timers/promises'],
          ),
          packages('pg', 'ioredis', 'bullmq', '@nestjs/bullmq'),
          packages('@electric-sql', '@mikro-orm/(postgresql|pglite)', 'uuid'),
        ],
      },
    ),
    rule(
      'http-clients-in-egress-and-runtimes',
      'Every outbound request passes the guard in platform/egress, or goes to a provider that the operator chose.',
      // The monitoring server listens, and sends no request.
      {
        path: '^src/',
        pathNot: ['^src/platform/egress/', '^src/platform/http/monitoring-server[.]ts$', MODEL_RUNTIMES, SPEC],
      },
      {
        path: [builtin('http', 'https', 'http2'), packages('undici', 'axios', 'got', 'node-fetch')],
        // The type of a raw request or socket opens no connection.
        dependencyTypesNot: ['type-only'],
      },
    ),
    rule(
      'provider-sdks-in-runtimes',
      'Outside its runtime a provider is known only by the neutral port, or the engine grows a path per provider.',
      { path: '^src/', pathNot: [MODEL_RUNTIMES, SPEC] },
      { path: packages('@anthropic-ai', 'openai', '@google/genai') },
    ),
    rule(
      'opentelemetry-in-otlp',
      'The exporter makes its requests by itself, past the guard of platform/egress; and a start without a backend loads none of it.',
      { path: '^src/', pathNot: ['^src/observability/otlp/', SPEC] },
      { path: packages('@opentelemetry') },
    ),
    rule(
      'opentelemetry-on-demand',
      'What imports OpenTelemetry is itself imported when it is needed, not at every start.',
      { path: '^src/', pathNot: ['^src/observability/otlp/', SPEC] },
      { path: '^src/observability/otlp/', dependencyTypesNot: ['dynamic-import', 'type-only'] },
    ),
    rule(
      'commands-on-demand',
      'Every call of the command line reads these files; a handler, and what it needs, is loaded only when its command runs.',
      { path: ALL_COMMANDS },
      { dependencyTypesNot: ['dynamic-import', 'type-only'] },
    ),
    rule(
      'no-node-process',
      'Settings are read and validated in platform/config; this module is a second way to the environment.',
      { path: '^src/', pathNot: ['^src/platform/config/', SPEC] },
      { path: builtin('process') },
    ),
    rule(
      'source-stands-alone',
      'What is built and shipped imports nothing that is not.',
      { path: '^src/', pathNot: SPEC },
      { path: '^(test|bench|tools|widget|dist)/' },
    ),
    rule(
      'production-dependencies-only',
      'The image is installed without development dependencies.',
      { path: '^src/', pathNot: SPEC },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg'], dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'imports-resolve',
      'An import that resolves to nothing slips past every other rule.',
      { path: '^src/' },
      { couldNotResolve: true },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Types are imports too: a rule that looks past them can be evaded with one.
    tsPreCompilationDeps: true,
    moduleSystems: ['es6', 'cjs'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
