import { Inject, Injectable, type OnApplicationBootstrap, Optional } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Clock } from '../clock/index.js';
import { OPEN_DATABASE, type OpenDatabase, pendingMigrations } from '../database/index.js';
import { FileStore } from '../files/index.js';
import { ShutdownState } from '../lifecycle/index.js';
import { Logger } from '../telemetry/index.js';

/** One part that the process cannot serve without. Any provider that extends this is found and asked. */
export abstract class HealthCheck {
  /** The part's name in the answer of `/health/ready`; no two parts have the same. */
  abstract readonly name: string;
  /** Rejects when the part does not work; a `NotReady` says why in public words. */
  abstract check(): Promise<void>;
}

/** Something about how the process serves that is neither good nor bad. Any provider that extends this is found and asked. */
export abstract class HealthFact {
  /** A field of the answer of `/health/ready`, beside `status` and `checks`; no two facts have the same. */
  abstract readonly name: string;
  /** All that `value` may answer, for the OpenAPI document. */
  abstract readonly values: readonly string[];
  abstract readonly description: string;
  /** As things stand, from memory. */
  abstract value(): string;
}

/** Why a part is not ready, in words that may be shown. */
export class NotReady extends Error {}

export interface Readiness {
  readonly status: 'ok' | 'unavailable';
  readonly checks: Readonly<Record<string, string>>;
  /** By the names of the `HealthFact`s. */
  readonly facts: Readonly<Record<string, string>>;
}

const CHECK_MS = 2_000;
/** Named in the answer while the process stops. */
const OWN_PART = 'process';
/** What the answer has without any fact. */
const OWN_FIELDS = ['status', 'checks'];

/** Asks every part at once, each for two seconds at most. */
@Injectable()
export class Health implements OnApplicationBootstrap {
  private checks: readonly HealthCheck[] = [];
  private told: readonly HealthFact[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly shutdown: ShutdownState,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @throws Error when two parts, or two facts, share a name: the answer would hide the one behind the other */
  onApplicationBootstrap(): void {
    this.checks = this.instances().filter((instance) => instance instanceof HealthCheck);
    this.told = this.facts();
    requireUnlike('part', [OWN_PART, ...this.checks.map(({ name }) => name)]);
    requireUnlike('fact', [...OWN_FIELDS, ...this.told.map(({ name }) => name)]);
  }

  /** Those that there are, also before the application has started. */
  facts(): readonly HealthFact[] {
    return this.instances().filter((instance) => instance instanceof HealthFact);
  }

  private instances(): unknown[] {
    return this.discovery.getProviders().map(({ instance }) => instance as unknown);
  }

  async readiness(): Promise<Readiness> {
    const results = await Promise.all(this.checks.map(async (check) => [check.name, await this.ask(check)] as const));
    const checks = Object.fromEntries(results);
    if (this.shutdown.isStopping) checks[OWN_PART] = 'stopping';
    const ready = Object.values(checks).every((result) => result === 'ok');
    const facts = Object.fromEntries(this.told.map((fact) => [fact.name, fact.value()]));
    return { status: ready ? 'ok' : 'unavailable', checks, facts };
  }

  private async ask(check: HealthCheck): Promise<string> {
    let cancel: (() => void) | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      cancel = this.clock.after(CHECK_MS, () => reject(new NotReady('does not answer')));
    });
    try {
      await Promise.race([check.check(), late]);
      return 'ok';
    } catch (error) {
      this.logger.warn({ check: check.name, err: error }, 'A health check failed');
      return error instanceof NotReady ? error.message : 'does not work; the reason is in the log';
    } finally {
      cancel?.();
    }
  }
}

function requireUnlike(what: string, names: readonly string[]): void {
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw new Error(`More than one ${what} of /health/ready is called '${repeated}'`);
}

/** The database answers and has the tables that this build expects. Always well where there is no database. */
@Injectable()
export class DatabaseHealth extends HealthCheck {
  readonly name = 'database';
  private migrated = false;

  constructor(@Optional() @Inject(OPEN_DATABASE) private readonly open?: OpenDatabase) {
    super();
  }

  async check(): Promise<void> {
    if (!this.open) return;
    try {
      await this.open.database.query('select 1');
    } catch (cause) {
      throw new NotReady('does not answer', { cause });
    }
    // A build's migrations run once; after that only `select 1` is asked, several times a minute.
    if (this.migrated) return;
    const [first] = await pendingMigrations(this.open);
    if (first !== undefined) throw new NotReady(`lacks the migration ${first}`);
    this.migrated = true;
  }
}

/** Files can be stored. Always well where there is no store. */
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
