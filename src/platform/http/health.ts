import { Inject, Injectable, type OnApplicationBootstrap, Optional } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Clock } from '../clock/index.js';
import {
  lacksRoom,
  OPEN_DATABASE,
  type OpenDatabase,
  RESERVE_MIB,
  schemaState,
  type SchemaState,
} from '../database/index.js';
import { FileStore } from '../files/index.js';
import { endsWithin, ShutdownState } from '../lifecycle/index.js';
import { Logger } from '../telemetry/index.js';

/** A part without which the process cannot serve. Every provider that extends this class is checked. */
export abstract class HealthCheck {
  /** The part's name in the response of `/health/ready`, unique among the parts. */
  abstract readonly name: string;
  /** Rejects when the part does not work; a `NotReady` states the reason in public words. */
  abstract check(): Promise<void>;
}

/** A neutral fact about how the process serves. The response contains the fact of every provider that extends this class. */
export abstract class HealthFact {
  /** A field of the response of `/health/ready` beside `status` and `checks`, unique among the facts. */
  abstract readonly name: string;
  /** All results of `value`, for the OpenAPI document. */
  abstract readonly values: readonly string[];
  abstract readonly description: string;
  /** The present value. A promise settles within a second and does not reject. */
  abstract value(): string | Promise<string>;
}

/** The reason why a part is not ready, in public words. */
export class NotReady extends Error {}

export interface Readiness {
  readonly status: 'ok' | 'unavailable';
  readonly checks: Readonly<Record<string, string>>;
  /** By the names of the `HealthFact`s. */
  readonly facts: Readonly<Record<string, string>>;
}

const CHECK_MS = 2_000;
/** The part that the response adds while the process stops. */
const OWN_PART = 'process';
/** The fields that the response always has. */
const OWN_FIELDS = ['status', 'checks'];

/** Checks all parts at once, each for two seconds at most. */
@Injectable()
export class Health implements OnApplicationBootstrap {
  private checks: readonly HealthCheck[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly shutdown: ShutdownState,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @throws Error when two parts, or two facts, have the same name, because the response would contain only one of them */
  onApplicationBootstrap(): void {
    this.checks = this.instances().filter((instance) => instance instanceof HealthCheck);
    requireUnique('part', this.parts());
    requireUnique('fact', [...OWN_FIELDS, ...this.facts().map(({ name }) => name)]);
  }

  /** Works also before the application has started. */
  facts(): readonly HealthFact[] {
    return this.instances().filter((instance) => instance instanceof HealthFact);
  }

  /** The names of all parts. Works also before the application has started. */
  parts(): readonly string[] {
    const checks = this.instances().filter((instance) => instance instanceof HealthCheck);
    return [OWN_PART, ...checks.map(({ name }) => name)];
  }

  async readiness(): Promise<Readiness> {
    const [results, facts] = await Promise.all([
      Promise.all(this.checks.map(async (check) => [check.name, await this.run(check)] as const)),
      Promise.all(this.facts().map(async (fact) => [fact.name, await fact.value()] as const)),
    ]);
    const checks = Object.fromEntries(results);
    if (this.shutdown.isLeaving) checks[OWN_PART] = 'stopping';
    const ready = Object.values(checks).every((result) => result === 'ok');
    return { status: ready ? 'ok' : 'unavailable', checks, facts: Object.fromEntries(facts) };
  }

  private instances(): unknown[] {
    return this.discovery.getProviders().map(({ instance }) => instance as unknown);
  }

  private async run(check: HealthCheck): Promise<string> {
    try {
      if (await endsWithin(CHECK_MS, this.clock, check.check())) return 'ok';
      throw new NotReady('does not answer');
    } catch (error) {
      this.logger.warn({ check: check.name, err: error }, 'A health check failed');
      return error instanceof NotReady ? error.message : 'does not work; the reason is in the log';
    }
  }
}

function requireUnique(what: string, names: readonly string[]): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw new Error(`More than one ${what} of /health/ready is called '${repeated}'`);
}

/**
 * The database answers and can be written, and its tables are those that this build expects or newer ones that it may use: a deploy can migrate them while
 * this process runs. Succeeds in an application without a database.
 */
@Injectable()
export class DatabaseHealth extends HealthCheck {
  readonly name = 'database';

  constructor(@Optional() @Inject(OPEN_DATABASE) private readonly open?: OpenDatabase) {
    super();
  }

  async check(): Promise<void> {
    if (!this.open) return;
    const { pending, refusal, isReadOnly } = await this.state(this.open);
    if (refusal !== undefined) throw new NotReady(refusal);
    if (isReadOnly) throw new NotReady('is read-only');
    if (pending[0] !== undefined) throw new NotReady(`lacks the migration ${pending[0]}`);
    const { native } = this.open;
    if (native.kind === 'embedded' && (await lacksRoom(native.pglite.dataDir)))
      throw new NotReady(`has less than ${RESERVE_MIB} MiB of free space`);
  }

  private async state({ database, migrations }: OpenDatabase): Promise<SchemaState> {
    try {
      return await schemaState(database, migrations.all);
    } catch (cause) {
      throw new NotReady('does not answer', { cause });
    }
  }
}

/** Files can be stored. Succeeds in an application without a store. */
@Injectable()
export class FileStoreHealth extends HealthCheck {
  readonly name = 'files';

  constructor(@Optional() private readonly store?: FileStore) {
    super();
  }

  async check(): Promise<void> {
    try {
      await this.store?.check();
    } catch (cause) {
      throw new NotReady('cannot be stored', { cause });
    }
  }
}
