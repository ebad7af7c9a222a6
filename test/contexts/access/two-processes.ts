import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { accessHooks, FirstOrganization } from '../../../src/access/index.js';
import { AppModule } from '../../../src/app.module.js';
import { schemas } from '../../../src/schemas.js';
import type { Clock } from '../../../src/platform/clock/index.js';
import { readSettings, type Settings } from '../../../src/platform/config/index.js';
import { openDatabase, type OpenDatabase } from '../../../src/platform/database/index.js';
import { createHttpApp } from '../../../src/platform/http/create-http-app.js';
import { JobWorkers } from '../../../src/platform/jobs/index.js';
import { createLogger } from '../../../src/platform/telemetry/index.js';
import { clusterVariables } from '../../support/mode-environment.js';
import { openTestDatabase } from '../../support/test-database.js';

/** Two services that share only the database, and in cluster mode Redis. */
export interface TwoProcesses {
  readonly here: NestFastifyApplication;
  readonly there: NestFastifyApplication;
  /** A key with every capability. */
  readonly key: string;
  readonly close: () => Promise<void>;
}

export async function startTwoProcesses(clock: Clock): Promise<TwoProcesses> {
  const dataDir = mkdtempSync(join(tmpdir(), 'two-processes-'));
  const open = await openTestDatabase(schemas);
  const shared = open.url === undefined ? {} : clusterVariables(open.url);
  const environment = { PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'silent', ...shared };
  const settings = readSettings(environment, { role: 'all', demo: false });
  const here = await start(settings, open, clock);
  // An embedded database cannot be opened twice, so the two share the connection. Their caches are separate.
  const second =
    open.url === undefined ? { ...open, close: () => Promise.resolve() } : await openDatabase(settings, schemas);
  const there = await start(settings, second, clock);
  const first = await here.get(FirstOrganization).create();
  if (!first) throw new Error('The database was not empty');
  return {
    here,
    there,
    key: first.key,
    close: async () => {
      await there.close();
      await here.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function start(settings: Settings, open: OpenDatabase, clock: Clock): Promise<NestFastifyApplication> {
  const logger = createLogger(settings);
  const app = await createHttpApp({
    rootModule: AppModule.forRoot({ settings, open, clock, logger }),
    settings,
    logger,
    hooks: accessHooks,
  });
  await app.init();
  await app.getHttpAdapter().getInstance().ready();
  app.get(JobWorkers).start();
  return app;
}
