import 'reflect-metadata';
import type { Kernel } from './app.module.js';
import { checkCatalogueSetting } from './integrations/index.js';
import { checkProviderSettings } from './models/index.js';
import { SystemClock } from './platform/clock/index.js';
import type { Settings } from './platform/config/index.js';
import { migrate, openDatabase } from './platform/database/index.js';
import { checkListenAddress, listenAddresses } from './platform/http/index.js';
import { createLogger } from './platform/telemetry/index.js';
import { schemas } from './schemas.js';

/**
 * Starts the service in the role of its settings; resolves once it serves.
 * @throws StartFailure for an error that the operator can fix
 */
export async function start(settings: Settings): Promise<void> {
  checkProviderSettings(settings);
  checkCatalogueSetting(settings);
  const logger = createLogger(settings);
  const clock = new SystemClock();
  for (const address of listenAddresses(settings)) await checkListenAddress(address);
  const open = await openDatabase(settings, schemas);
  open.onCrash?.((err) => {
    logger.error(
      { err, folder: settings.dataDir },
      'The embedded database has crashed, so the process ends. Start it again; if it crashes again, look at the disk of DATA_DIR',
    );
    process.exit(1);
  });
  const migrated = await migrate(open, () =>
    logger.info({}, 'Waiting for another process that is migrating the database'),
  );
  if (migrated.length > 0) logger.info({ migrations: migrated }, 'The database was brought up to date');
  const kernel: Kernel = { settings, open, clock, logger };
  // A worker does not load the HTTP server.
  const { run } = settings.role === 'worker' ? await import('./start-worker.js') : await import('./start-http.js');
  await run(kernel);
}
