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

/** Why a part is not ready, in words that may be shown. */
export class NotReady extends Error {}

export interface Readiness {
  readonly status: 'ok' | 'unavailable';
  readonly checks: Readonly<Record<string, string>>;
}

const CHECK_MS = 2_000;
/** Named in the answer while the process stops. */
const OWN_PART = 'process';

/** Asks every part at once, each for two seconds at most. */
@Injectable()
export class Health implements OnApplicationBootstrap {
  private checks: readonly HealthCheck[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly shutdown: ShutdownState,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @throws Error when two parts share a name: the answer would hide the one behind the other */
  onApplicationBootstrap(): void {
    const checks = this.discovery
      .getProviders()
      .map(({ instance }) => instance as unknown)
      .filter((instance) => instance instanceof HealthCheck);
    const names = checks.map(({ name }) => name);
    const repeated = names.find((name, index) => name === OWN_PART || names.indexOf(name) !== index);
    if (repeated !== undefined) throw new Error(`More than one part of /health/ready is called '${repeated}'`);
    this.checks = checks;
  }

  async readiness(): Promise<Readiness> {
    const results = await Promise.all(this.checks.map(async (check) => [check.name, await this.ask(check)] as const));
    const checks = Object.fromEntries(results);
    if (this.shutdown.isStopping) checks[OWN_PART] = 'stopping';
    const ready = Object.values(checks).every((result) => result === 'ok');
    return { status: ready ? 'ok' : 'unavailable', checks };
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
