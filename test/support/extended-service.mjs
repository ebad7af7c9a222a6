// Starts the built service, as `main.js all` does, with further participants in its turns.
import 'reflect-metadata';
import { flushCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Module } from '@nestjs/common';

export const built = (path) => import(pathToFileURL(resolve('dist', path)).href);

/**
 * @param participants providers by the role they have in a turn, for instance `{ toolSources: [PayTool] }`
 * @returns the started application
 */
export async function startExtended(participants) {
  const { accessHooks, FirstOrganization } = await built('access/index.js');
  const { AppModule } = await built('app.module.js');
  const { schemas } = await built('schemas.js');
  const { SystemClock } = await built('platform/clock/index.js');
  const { loadSettings } = await built('platform/config/index.js');
  const { migrate, openDatabase } = await built('platform/database/index.js');
  const { createHttpApp } = await built('platform/http/create-http-app.js');
  const { JobWorkers } = await built('platform/jobs/index.js');
  const { createLogger } = await built('platform/telemetry/index.js');

  class ExtensionsModule {
    name = 'participants';
  }
  const providers = Object.values(participants).flat();
  Module({ providers, exports: providers })(ExtensionsModule);

  const settings = loadSettings({ role: 'all', demo: false });
  const logger = createLogger(settings);
  const open = await openDatabase(settings, schemas);
  await migrate(open);
  const extensions = [{ name: 'test', modules: [ExtensionsModule], runs: participants }];
  const app = await createHttpApp({
    rootModule: AppModule.forRoot({ settings, open, clock: new SystemClock(), logger, extensions }),
    settings,
    logger,
    hooks: accessHooks,
  });
  await app.init();
  const first = await app.get(FirstOrganization).create();
  await app.listen(settings.port, settings.host);
  app.get(JobWorkers).start();
  // Kept at a process's end otherwise, and tests kill this one.
  flushCompileCache();
  process.stdout.write(`Listening on ${await app.getUrl()}\n${first?.key ?? ''}\n`);
  return app;
}
