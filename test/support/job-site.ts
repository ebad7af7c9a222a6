import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConsoleLogger, Global, Module, type ModuleMetadata, type Provider } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { Redis } from 'ioredis';
import pg from 'pg';
import { z } from 'zod';
import { Clock } from '../../src/platform/clock/index.js';
import { type ProcessRole, readSettings, type Settings } from '../../src/platform/config/index.js';
import {
  type ContextSchema,
  Database,
  migrate,
  OPEN_DATABASE,
  openDatabase,
  type OpenDatabase,
} from '../../src/platform/database/index.js';
import { newId } from '../../src/platform/ids/index.js';
import {
  type ActiveJob,
  type JobDefinition,
  JobsModule,
  JobWorkers,
  Processor,
  WorkerHost,
} from '../../src/platform/jobs/index.js';
import { ShutdownState } from '../../src/platform/lifecycle/index.js';
import { createLogger, Logger } from '../../src/platform/telemetry/index.js';
import { ManualClock } from './manual-clock.js';
import { prepareDatabase } from './prepared-cluster.js';
import { until as untilTrue } from './until.js';

/** A database, with settings that name the queue. */
export interface JobDatabase {
  readonly open: OpenDatabase;
  readonly settings: Settings;
  close(): Promise<void>;
}

/** PGlite, with the queue in it. */
export async function embeddedJobDatabase(schemas: readonly ContextSchema[]): Promise<JobDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'jobs-'));
  await prepareDatabase(folder, schemas);
  const settings = readSettings({ DATA_DIR: folder }, { role: 'all', demo: false });
  const open = await openDatabase(settings, schemas);
  await migrate(open);
  return {
    open,
    settings,
    close: async () => {
      await open.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** A new database on the server of `databaseUrl`; the queue is in Redis if one is named, else in the database. */
export async function serverJobDatabase(
  schemas: readonly ContextSchema[],
  databaseUrl: string,
  redisUrl: string | undefined,
): Promise<JobDatabase> {
  const name = `jobs_${newId().replaceAll('-', '')}`;
  await administer(databaseUrl, `create database ${name}`);
  const url = new URL(databaseUrl);
  url.pathname = name;
  const settings = readSettings(
    { DATABASE_URL: url.href, REDIS_URL: redisUrl, SECRETS_KEY: Buffer.alloc(32).toString('base64') },
    { role: 'all', demo: false },
  );
  const open = await openDatabase(settings, schemas);
  await migrate(open);
  return {
    open,
    settings,
    close: async () => {
      await open.close();
      await administer(databaseUrl, `drop database ${name} with (force)`);
    },
  };
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

export interface ProcessOptions {
  readonly handlers: readonly Provider[];
  readonly jobs: readonly JobDefinition<unknown>[];
  readonly role?: ProcessRole;
  /** Replaces the installation's own. */
  readonly redisUrl?: string;
}

/** One installation: a database, queues that no other test sees, and the processes that a test starts. */
export class JobSite {
  readonly clock = new ManualClock();
  /** What the processes logged, as JSON lines. */
  readonly log: string[] = [];
  private readonly prefix = `test-${newId()}`;
  private readonly running = new Set<TestingModule>();

  constructor(private readonly on: JobDatabase) {}

  get database(): Database {
    return this.on.open.database;
  }

  async start({ handlers, jobs, role = 'all', redisUrl }: ProcessOptions): Promise<TestingModule> {
    const module = await Test.createTestingModule({
      imports: [
        { module: Kernel, ...kernel(this.on.open, this.clock, this.log) },
        JobsModule.forRoot(varied(this.on.settings, { role, redisUrl }, this.prefix)),
        ...jobs.map((job) => JobsModule.define(job)),
      ],
      providers: [...handlers],
    })
      .setLogger(new ConsoleLogger({ logLevels: [] }))
      .compile();
    await module.init();
    module.get(JobWorkers).start();
    this.running.add(module);
    return module;
  }

  async stop(module: TestingModule): Promise<void> {
    this.running.delete(module);
    await module.close();
  }

  async stopAll(): Promise<void> {
    for (const module of this.running) await this.stop(module);
    await this.database.query('delete from outbox');
    const { redisUrl } = this.on.settings;
    if (redisUrl !== undefined) await forgetKeys(redisUrl, `${this.prefix}-*`);
  }
}

async function forgetKeys(redisUrl: string, pattern: string): Promise<void> {
  const redis = new Redis(redisUrl);
  const keys = await redis.keys(pattern);
  if (keys.length > 0) await redis.del(keys);
  await redis.quit();
}

@Global()
@Module({})
class Kernel {}

function kernel(open: OpenDatabase, clock: Clock, log: string[]): Pick<ModuleMetadata, 'providers' | 'exports'> {
  return {
    providers: [
      { provide: OPEN_DATABASE, useValue: open },
      { provide: Database, useValue: open.database },
      { provide: Clock, useValue: clock },
      { provide: Logger, useValue: createLogger({ logLevel: 'info' }, { write: (line) => void log.push(line) }) },
      ShutdownState,
    ],
    exports: [OPEN_DATABASE, Database, Clock, Logger, ShutdownState],
  };
}

/** Replaces settings, without the checks for operators. */
function varied(
  settings: Settings,
  { role, redisUrl }: Pick<ProcessOptions, 'role' | 'redisUrl'>,
  redisPrefix: string,
): Settings {
  const replaced = {
    role: { value: role },
    redisPrefix: { value: redisPrefix },
    ...(redisUrl === undefined ? {} : { redisUrl: { value: redisUrl } }),
  };
  return Object.create(settings, replaced) as Settings;
}

/** The payload of the jobs of tests. */
export const noteSchema = z.object({ note: z.string() });
export type Note = z.output<typeof noteSchema>;
export type NoteJob = JobDefinition<Note>;

/** `attempt` counts from 1. */
export type Behaviour = (
  payload: Note,
  context: { readonly signal: AbortSignal; readonly attempt: number },
) => Promise<void> | void;

/** A Nest provider that handles `job` with `behaviour`. */
export function handlerOf(job: NoteJob, behaviour: Behaviour): Provider {
  @Processor(job.name)
  class TestHandler extends WorkerHost {
    async process({ data, signal, attemptsMade }: ActiveJob<Note>): Promise<void> {
      await behaviour(data, { signal, attempt: attemptsMade + 1 });
    }
  }
  return { provide: `handler:${newId()}`, useValue: new TestHandler() };
}

/** The argument of a processor that a test calls. */
export function activeJob<Payload>(data: Payload, signal = new AbortController().signal): ActiveJob<Payload> {
  return { data, signal, attemptsMade: 0 } as ActiveJob<Payload>;
}

/** Waits for the effects of other connections and timers. */
export function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  return untilTrue(condition, 'the effects of other connections and timers', { withinMs: 45_000 });
}

/** A handler waits for `passed`; the test calls `open`. */
export function gate(): { passed: Promise<void>; open: () => void } {
  let open!: () => void;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

/** Runs until its signal aborts. */
export const untilAborted: Behaviour = (_, { signal }) =>
  new Promise((_resolve, reject) => {
    const stop = (): void => {
      reject(signal.reason as Error);
    };
    // A job counts as started before its handler runs, so the abort may have come first.
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
