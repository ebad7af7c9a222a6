import { describe, expect, it } from '@jest/globals';
import { AgentDataHolders } from '../../../src/agents/index.js';
import { useService } from '../../support/harness.js';

const service = useService();

/** The conditions of the table's indexes that begin with `agent_id`; null for an index of all rows. */
const INDEXES = `
  select lower(pg_get_expr(i.indpred, i.indrelid)) as condition from pg_index i
  join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
  where i.indrelid = $1::regclass and a.attname = 'agent_id'`;

describe('the search for rows of deleted agents', () => {
  it('uses an index in every table', async () => {
    const tables = service.app.get(AgentDataHolders, { strict: false }).all.flatMap((holder) => holder.tables);
    expect(tables.length).toBeGreaterThan(10);
    for (const { name, where } of tables) {
      const indexes = await service.database.query<{ condition: string | null }>(INDEXES, [name]);
      const usable = indexes.filter(({ condition }) => condition === null || condition === `(${where ?? ''})`);
      expect({ name, indexed: usable.length > 0 }).toEqual({ name, indexed: true });
    }
  });
});
