import { expect, it } from '@jest/globals';
import { computedMs } from '../../../test/support/computing-time.js';
import { embeddedOnly } from '../../../test/support/modes.js';
import { openTestDatabase } from '../../../test/support/test-database.js';

embeddedOnly('the embedded database', () => {
  it('copies the same number of parsers for a statement with any number of tables, and reads arrays', async () => {
    const open = await openTestDatabase([]);
    try {
      if (open.native.kind !== 'embedded') throw new Error('not embedded');
      expect(Object.keys(open.native.pglite.parsers).length).toBeLessThan(120);
      const [row] = await open.database.query(
        `select array['a'] as texts, array[1::int8, null] as counts, array[true] as flags,
                array['0198c5a2-6f5e-7c1a-8f6e-1c2d3e4f5a6b'::uuid] as ids, array['{"a": 1}'::jsonb] as objects`,
      );
      const ids = ['0198c5a2-6f5e-7c1a-8f6e-1c2d3e4f5a6b'];
      expect(row).toEqual({ texts: ['a'], counts: [1, null], flags: [true], ids, objects: [{ a: 1 }] });
    } finally {
      await open.close();
    }
  });

  it('reads bytes about as fast as text of the same length', async () => {
    const open = await openTestDatabase([]);
    try {
      const sizes = async (bytes: string): Promise<number> => {
        const before = process.threadCpuUsage();
        await open.database.query(`select ${bytes} as value`);
        return computedMs(before);
      };
      const [read] = await open.database.query<{ value: Uint8Array }>(
        `select decode('00ff5c78', 'hex') as value, ''::bytea as none`,
      );
      expect(read).toEqual({ value: Buffer.from([0, 255, 92, 120]), none: Buffer.alloc(0) });
      const [bytes, text] = [await sizes(`decode(repeat('ab', 4000000), 'hex')`), await sizes(`repeat('ab', 4000000)`)];
      // A conversion byte by byte takes some twenty times as long.
      expect(bytes).toBeLessThan(5 * text + 100);
    } finally {
      await open.close();
    }
  });
});
