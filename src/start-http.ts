import type { INestApplicationContext } from '@nestjs/common';
import { accessHooks, FirstOrganization } from './access/index.js';
import { AppModule, type Kernel } from './app.module.js';
import { commands } from './commands.js';
import { DemoExamples } from './demo/index.js';
import { type OperatorKernel, runCommand } from './platform/command-line/index.js';
import { EventBus } from './platform/events/index.js';
import { listenFailure, MonitoringServer } from './platform/http/index.js';
import { createHttpApp } from './platform/http/create-http-app.js';
import { JobWorkers } from './platform/jobs/index.js';
import { ShutdownState, shutDown, stopOnSignals } from './platform/lifecycle/index.js';
import { OperatorServer } from './platform/operator/index.js';
import { RotateSecrets } from './platform/vault/index.js';
import { welcome } from './welcome.js';

/** Starts a process that serves requests, and in the role `all` works on jobs too. */
export async function run(kernel: Kernel): Promise<void> {
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
  const { shutdownMs, shutdownDelayMs: delayMs } = settings;
  stopOnSignals(app, { shutdownMs, delayMs, clock, logger, server });
  let monitoring: string | undefined;
  try {
    monitoring = await app.get(MonitoringServer).listen();
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
  const { host, port, role } = settings;
  logger.info({ host, port, monitoring, role, database: open.native.kind }, 'Ready');
}

/** Runs the operator commands of an embedded service, because no other process may use its data folder. */
async function serveOperator(app: INestApplicationContext, { settings, open, clock }: Kernel): Promise<void> {
  const operator: OperatorKernel = {
    settings,
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
