import { expect, it } from '@jest/globals';
import { embeddedOnly } from '../../../test/support/modes.js';
import { openTestDatabase } from '../../../test/support/test-database.js';

embeddedOnly('the embedded database', () => {
  it('copies as little for a statement however many tables there are, and reads arrays', async () => {
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
});
