import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { accessHooks, CAPABILITIES } from '../../src/access/index.js';
import { type AppContext, AppModule, contexts, schemasOf } from '../../src/app.module.js';
import { commands } from '../../src/commands.js';
import type { RunExtensions } from '../../src/conversations/index.js';
import { type Clock, SystemClock } from '../../src/platform/clock/index.js';
import { readSettings } from '../../src/platform/config/index.js';
import type { Database } from '../../src/platform/database/index.js';
import { EventBus } from '../../src/platform/events/index.js';
import { createHttpApp } from '../../src/platform/http/create-http-app.js';
import { JobWorkers } from '../../src/platform/jobs/index.js';
import { type OperatorKernel, runCommand } from '../../src/platform/command-line/index.js';
import { createLogger, type LogDestination } from '../../src/platform/telemetry/index.js';
import { loggedErrors } from './jest/logged-errors.js';
import { DocumentedAnswers } from './documented-answers.js';
import { RotateSecrets } from '../../src/platform/vault/index.js';
import { clusterVariables } from './mode-environment.js';
import { ScriptedModels } from './scripted-models.js';
import { readEvents } from './sse.js';
import { openTestDatabase } from './test-database.js';

export { until } from './until.js';

export interface Answer<Body = Record<string, unknown>> {
  readonly status: number;
  readonly body: Body;
  readonly text: string;
  readonly headers: Headers;
}

export interface RequestOptions {
  readonly key?: string;
  /** Sent as JSON unless it is a string, which is sent as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** An AG-UI event as it came over the wire. */
export interface StreamedEvent {
  readonly id: string | null;
  readonly event: { readonly type: string } & Readonly<Record<string, unknown>>;
}

export interface TestOrganization {
  readonly id: string;
  /** A key with every capability. */
  readonly key: string;
  keyWith(capabilities: readonly string[], agentIds?: readonly string[]): Promise<{ id: string; key: string }>;
}

export interface ServiceOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Further extensions of runs. */
  readonly extensions?: TestExtensions;
  /** Further contexts, with tables and routes of their own. */
  readonly contexts?: readonly AppContext[];
  readonly clock?: Clock;
  /** Replaces `EGRESS_ALLOW`, for hosts that are not known before the start. */
  readonly egressAllow?: ReadonlySet<string>;
  /** Receives the lines of the log at the environment's `LOG_LEVEL`. */
  readonly log?: LogDestination;
}

/** Run extensions, and the modules that provide them. */
export type TestExtensions = RunExtensions & { readonly imports?: AppContext['modules'] };

function contextOf({ imports = [], ...runs }: TestExtensions): AppContext {
  return { name: 'test', modules: imports, runs };
}

type OpenTestDatabase = Awaited<ReturnType<typeof openTestDatabase>>;

async function stop(app: NestFastifyApplication): Promise<void> {
  const closed = app.close();
  // A client may have opened a connection that it never used; to the server that one is not idle.
  app.getHttpServer().closeAllConnections();
  await closed;
}

/** A service that listens somewhere, in this process or another, as its customers and its operator reach it. */
export class RunningService {
  private organizations = 0;

  constructor(
    readonly baseUrl: string,
    private readonly operate: (line: readonly string[]) => Promise<object>,
  ) {}

  /** One operator command, as its words. */
  async cli<Result extends object>(...line: string[]): Promise<Result> {
    return (await this.operate(line)) as Result;
  }

  /** A fresh organization: nothing is shared between tests. It may have agents of every provider unless its features say otherwise. */
  async organization(...options: string[]): Promise<TestOrganization> {
    this.organizations += 1;
    const { id } = await this.cli<{ id: string }>(
      'org',
      'create',
      '--name',
      `Test ${this.organizations}`,
      ...withEveryProvider(options),
    );
    const keyWith = (
      capabilities: readonly string[],
      agentIds?: readonly string[],
    ): Promise<{ id: string; key: string }> =>
      this.cli(
        ...['key', 'create', '--org', id, '--capabilities', capabilities.join(',')],
        ...(agentIds ? ['--agents', agentIds.join(',')] : []),
      );
    return { id, key: (await keyWith(CAPABILITIES)).key, keyWith };
  }

  async http<Body = Record<string, unknown>>(
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<Answer<Body>> {
    const response = await this.fetch(method, path, options);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return { status: response.status, body: (isJson ? JSON.parse(text) : {}) as Body, text, headers: response.headers };
  }

  fetch(method: string, path: string, { key, body, headers, signal }: RequestOptions = {}): Promise<Response> {
    return fetch(`${this.baseUrl}${path}`, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  }

  /** Opens a stream and reads it event by event. */
  async *stream(path: string, options: RequestOptions): AsyncGenerator<StreamedEvent> {
    const response = await this.fetch('POST', path, options);
    if (response.status !== 200 || !response.body) throw new Error(`${response.status} ${await response.text()}`);
    for await (const { id, data } of readEvents(response.body)) {
      yield { id, event: JSON.parse(data) as StreamedEvent['event'] };
    }
  }

  /** An agent of the organization, on a model of the provider. */
  async agent(key: string, changes: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const answer = await this.http<{ id: string }>('POST', '/v1/agents', {
      key,
      body: { name: 'Helper', provider: { type: 'anthropic' }, ...changes },
    });
    if (answer.status !== 201) throw new Error(`agent: ${answer.status} ${answer.text}`);
    return answer.body.id;
  }

  async thread(key: string, agentId: string): Promise<string> {
    const answer = await this.http<{ id: string }>('POST', '/v1/threads', { key, body: { assistant_id: agentId } });
    if (answer.status !== 200) throw new Error(`thread: ${answer.status} ${answer.text}`);
    return answer.body.id;
  }
}

/** The whole service in this process, listening on a port of its own, on a database of its own. */
export class TestService extends RunningService {
  private constructor(
    readonly app: NestFastifyApplication,
    baseUrl: string,
    readonly database: Database,
    readonly models: ScriptedModels,
    readonly clock: Clock,
    operate: (line: readonly string[]) => Promise<object>,
    private readonly dispose: () => Promise<void>,
    private readonly startReplica: () => Promise<TestService>,
  ) {
    super(baseUrl, operate);
  }

  static async start(options: ServiceOptions = {}): Promise<TestService> {
    const models = await ScriptedModels.start();
    const added = [...(options.extensions ? [contextOf(options.extensions)] : []), ...(options.contexts ?? [])];
    const open = await openTestDatabase(schemasOf([...contexts, ...added]));
    const dataDir = mkdtempSync(join(tmpdir(), 'service-test-'));
    const clock = options.clock ?? new SystemClock();
    const settings = readSettings(
      {
        PORT: '0',
        DATA_DIR: dataDir,
        LOG_LEVEL: 'error',
        ...models.environment,
        ...(open.url === undefined ? {} : clusterVariables(open.url)),
        ...options.environment,
      },
      { role: 'all', demo: false },
    );
    if (options.egressAllow) Object.assign(settings, { egressAllow: options.egressAllow });
    const logger = createLogger(settings, options.log ?? loggedErrors);
    const isOwn = added.every(({ modules, healthChecks = [] }) => modules.length + healthChecks.length === 0);
    const boot = async (on: OpenTestDatabase): Promise<NestFastifyApplication> => {
      const app = await createHttpApp({
        rootModule: AppModule.forRoot({ settings, open: on, clock, logger, extensions: added }),
        settings,
        logger,
        hooks: (created) => {
          const { onRequest = [], onSend = [] } = accessHooks(created);
          return { onRequest: [new DocumentedAnswers(created, isOwn).hook, ...onRequest], onSend };
        },
      });
      await app.listen(0, '127.0.0.1');
      app.get(JobWorkers).start();
      return app;
    };
    const app = await boot(open);
    const kernel: OperatorKernel = {
      settings,
      open,
      clock,
      events: app.get(EventBus),
      rotateSecrets: () => app.get(RotateSecrets),
    };
    const operate = (line: readonly string[]): Promise<object> => runCommand(commands, kernel, line);
    const of = async (app: NestFastifyApplication, dispose: () => Promise<void>): Promise<TestService> => {
      const url = await app.getUrl();
      return new TestService(app, url, open.database, models, clock, operate, dispose, startReplica);
    };
    // They share only the database, and in cluster mode Redis.
    const startReplica = async (): Promise<TestService> => {
      const replica = await boot({ ...open, close: () => Promise.resolve() });
      return of(replica, () => stop(replica));
    };
    return of(app, async () => {
      await stop(app);
      await models.close();
      rmSync(dataDir, { recursive: true, force: true });
    });
  }

  /** A second process of the service on the same database. Close it before this one. */
  replica(): Promise<TestService> {
    return this.startReplica();
  }

  close(): Promise<void> {
    return this.dispose();
  }
}

export function startService(options: ServiceOptions = {}): Promise<TestService> {
  return TestService.start(options);
}

/**
 * A service for all tests of a file: started before them and closed after them. Each test begins without scripts. The returned proxy
 * can be used in hooks and tests.
 */
export function useService(options: ServiceOptions = {}): TestService {
  let started: TestService | undefined;
  beforeAll(async () => {
    started = await startService(options);
  });
  afterAll(() => started?.close());
  beforeEach(() => {
    started?.models.reset();
  });
  return onceStarted(() => started);
}

/** Another process on the same database, for all tests of a file or group, as `useService` has the first one. */
export function useReplica(service: TestService): TestService {
  let replica: TestService | undefined;
  beforeAll(async () => {
    replica = await service.replica();
  });
  afterAll(() => replica?.close());
  return onceStarted(() => replica);
}

function onceStarted(service: () => TestService | undefined): TestService {
  return new Proxy({} as TestService, {
    get: (_none, name) => {
      const started = service();
      if (!started) throw new Error('The service is not started yet: use it only in hooks and tests');
      const value: unknown = Reflect.get(started, name);
      return typeof value === 'function' ? (value.bind(started) as unknown) : value;
    },
  });
}

/** Body of a run that sends one message. */
export function message(content: string, more: Readonly<Record<string, unknown>> = {}): object {
  return { message: { role: 'user', content }, ...more };
}

function withEveryProvider(options: readonly string[]): string[] {
  const at = options.indexOf('--features');
  if (at === -1) return [...options, '--features', 'claude_agent_sdk'];
  return options.map((option, index) =>
    index === at + 1 && !option.includes('claude_agent_sdk') ? `${option},claude_agent_sdk` : option,
  );
}
