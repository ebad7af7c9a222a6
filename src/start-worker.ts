import { constants, setPriority } from 'node:os';
import { NestFactory } from '@nestjs/core';
import { AppModule, type Kernel } from './app.module.js';
import { MonitoringServer } from './platform/http/index.js';
import { JobWorkers } from './platform/jobs/index.js';
import { stopOnSignals } from './platform/lifecycle/index.js';
import { NestLogger } from './platform/telemetry/index.js';

/** Starts a process that works on jobs and serves no requests. */
export async function run(kernel: Kernel): Promise<void> {
  const { settings, clock, logger } = kernel;
  const app = await NestFactory.createApplicationContext(AppModule.forRoot(kernel), { logger: new NestLogger(logger) });
  const monitoring = await app.get(MonitoringServer).listen();
  stopOnSignals(app, { shutdownMs: settings.shutdownMs, clock, logger });
  // Processes on the same machine that serve requests come first.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  app.get(JobWorkers).start();
  logger.info({ monitoring }, 'The worker is ready');
}
