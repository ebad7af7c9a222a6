import { expect, it } from '@jest/globals';
import { DEFAULT_SCHEMA } from 'bullmq';
import { schemas } from '../../../src/schemas.js';
import { migrate } from '../../../src/platform/database/index.js';
import { openPglite } from '../../../src/platform/database/embedded-database.js';
import { migratePglite } from '../../../src/platform/jobs/pglite-pool.js';
import { inMemory, preparedCluster } from '../../support/prepared-cluster.js';

it('has no table, type or function of the service with the name of one of the queue', async () => {
  const open = await openPglite(inMemory(await preparedCluster([])), schemas);
  if (open.native.kind !== 'embedded') throw new Error('PGlite is the embedded database');
  await migrate(open);
  await migratePglite(open.native.pglite);
  const { rows } = await open.native.pglite.query(
    `with named as (
       select typname::text as name, nspname from pg_type join pg_namespace n on n.oid = typnamespace
       union all select proname::text, nspname from pg_proc join pg_namespace n on n.oid = pronamespace)
     select name from named where nspname in ('public', $1) group by name having count(distinct nspname) > 1`,
    [DEFAULT_SCHEMA],
  );
  expect(rows).toEqual([]);
  await open.close();
});
