// The built service with one more tool, `pay`: it notes each call in the file PAYMENTS and never comes back.
import 'reflect-metadata';
import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Module } from '@nestjs/common';

const built = (path) => import(pathToFileURL(resolve('dist', path)).href);
const { AuthenticateRequest, BootstrapOrganization } = await built('access/index.js');
const { AppModule, schemas } = await built('app.module.js');
const { SystemClock } = await built('platform/clock/index.js');
const { loadSettings } = await built('platform/config/index.js');
const { migrate, openDatabase } = await built('platform/database/index.js');
const { createHttpApp } = await built('platform/http/index.js');
const { createLogger } = await built('platform/telemetry/index.js');

class PayTool {
  offer() {
    const definition = { name: 'pay', description: 'Pays.', inputSchema: { type: 'object' } };
    const call = (input) => {
      appendFileSync(process.env.PAYMENTS, `${JSON.stringify(input)}\n`);
      return new Promise(() => undefined);
    };
    return Promise.resolve([{ definition, step: 'tool', effect: 'changes_resources', call }]);
  }
}

class PayModule {
  name = 'pay';
}
Module({ providers: [PayTool], exports: [PayTool] })(PayModule);

const settings = loadSettings({ role: 'all', demo: false });
const logger = createLogger(settings);
const open = await openDatabase(settings, schemas);
await migrate(open);
const extensions = { imports: [PayModule], toolSources: [PayTool] };
const app = await createHttpApp({
  rootModule: AppModule.forRoot({ settings, open, clock: new SystemClock(), logger, extensions }),
  settings,
  logger,
  onRequest: (created) => [created.get(AuthenticateRequest).hook],
});
await app.init();
const first = await app.get(BootstrapOrganization).execute();
await app.listen(settings.port, settings.host);
process.stdout.write(`Listening on ${await app.getUrl()}\n${first?.key ?? ''}\n`);
