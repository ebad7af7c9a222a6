import 'reflect-metadata';
import { constants, setPriority } from 'node:os';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { accessHooks, FirstOrganization } from './access/index.js';
import { AppModule, type Kernel } from './app.module.js';
import { commands } from './commands.js';
import { DemoExamples } from './demo/index.js';
import { checkCatalogueSetting } from './integrations/index.js';
import { checkProviderSettings } from './models/index.js';
import { SystemClock } from './platform/clock/index.js';
import { type OperatorKernel, runCommand } from './platform/command-line/index.js';
import type { Settings } from './platform/config/index.js';
import { migrate, openDatabase } from './platform/database/index.js';
import { EventBus } from './platform/events/index.js';
import { checkListenAddress, createHttpApp, listenFailure } from './platform/http/index.js';
import { JobWorkers } from './platform/jobs/index.js';
import { ShutdownState, shutDown, stopOnSignals } from './platform/lifecycle/index.js';
import { OperatorServer } from './platform/operator/index.js';
import { createLogger, NestLogger } from './platform/telemetry/index.js';
import { RotateSecrets } from './platform/vault/index.js';
import { schemas } from './schemas.js';
import { welcome } from './welcome.js';

/**
 * Starts the service in the role of its settings; resolves once it serves.
 * @throws StartFailure for an error that the operator can fix
 */
export async function start(settings: Settings): Promise<void> {
  checkProviderSettings(settings);
  checkCatalogueSetting(settings);
  const logger = createLogger(settings);
  const clock = new SystemClock();
  if (settings.role !== 'worker') await checkListenAddress(settings);
  const open = await openDatabase(settings, schemas);
  const migrated = await migrate(open, () =>
    logger.info({}, 'Waiting for another process that is migrating the database'),
  );
  if (migrated.length > 0) logger.info({ migrations: migrated }, 'The database was brought up to date');
  const kernel: Kernel = { settings, open, clock, logger };
  if (settings.role === 'worker') await startWorker(kernel);
  else await startHttp(kernel);
}

async function startWorker(kernel: Kernel): Promise<void> {
  const { settings, clock, logger } = kernel;
  const app = await NestFactory.createApplicationContext(AppModule.forRoot(kernel), { logger: new NestLogger(logger) });
  stopOnSignals(app, { shutdownMs: settings.shutdownMs, clock, logger });
  // Processes on the same machine that serve requests come first.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  app.get(JobWorkers).start();
  logger.info({}, 'The worker is ready');
}

async function startHttp(kernel: Kernel): Promise<void> {
  const { settings, open, clock, logger } = kernel;
  const app = await createHttpApp({
    rootModule: AppModule.forRoot(kernel),
    settings,
    logger,
    hooks: accessHooks,
  });
  await app.init();
  if (settings.embedded) await serveOperator(app, kernel);
  const server = app.getHttpServer();
  stopOnSignals(app, { shutdownMs: settings.shutdownMs, clock, logger, server });
  try {
    await app.listen(settings.port, settings.host);
  } catch (error) {
    await shutDown(app, { shutdownMs: 0, clock, logger });
    throw listenFailure(error, settings);
  }
  // Last, because the key is shown only once: a start that fails must not create it.
  const firstKey = settings.role === 'all' ? await app.get(FirstOrganization).create() : null;
  process.stdout.write(welcome(await app.getUrl(), settings, firstKey));
  app.get(JobWorkers).start();
  if (settings.demo) {
    // Not awaited: the demo's page works without the examples.
    app
      .get(DemoExamples)
      .createAll()
      .catch((err: unknown) => logger.warn({ err }, 'The examples of the documentation could not be created'));
  }
  logger.info({ host: settings.host, port: settings.port, role: settings.role, database: open.native.kind }, 'Ready');
}

/** Runs the operator commands of an embedded service, because no other process may use its data folder. */
async function serveOperator(app: INestApplicationContext, { settings, open, clock }: Kernel): Promise<void> {
  const operator: OperatorKernel = {
    open,
    clock,
    events: app.get(EventBus),
    rotateSecrets: () => app.get(RotateSecrets),
  };
  const server = new OperatorServer(settings.dataDir, (line) => runCommand(commands, operator, line));
  await server.start();
  // Running commands need the database, so they end before it closes.
  app.get(ShutdownState).register({ name: 'operator', idle: () => server.close(), abort: () => Promise.resolve() });
}
