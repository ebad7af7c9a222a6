import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { escapeLiteral } from './escape-literal.js';

let open: TestDatabase;

beforeAll(async () => {
  open = await openTestDatabase([]);
});
afterAll(() => open.close());

describe('a parameter of a statement of the ORM', () => {
  const echoed = async (text: string): Promise<string | undefined> => {
    const rows = await open.database.read((em) => em.execute<{ text: string }[]>('select ?::text as text', [text]));
    return rows[0]?.text;
  };

  it('is stored unchanged, including quotes, backslashes and question marks', async () => {
    const odd = fc.constantFrom(
      "'",
      "''",
      '\\',
      "\\'",
      '?',
      '??',
      '$1',
      '$&',
      '\uFEFF',
      ' E',
      '--',
      '/*',
      '\n',
      'é',
      '😀',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(odd), async (parts) => {
        expect(await echoed(parts.join(''))).toBe(parts.join(''));
      }),
    );
  });

  it('with a NUL character is refused before it is sent', async () => {
    expect(() => escapeLiteral('a\0b')).toThrow(TypeError);
    await expect(echoed('a\0b')).rejects.toThrow('refused a statement');
  });
});

describe('a transaction with long statements of the ORM', () => {
  it('yields to other tasks between them', async () => {
    const turns: number[] = [];
    await open.database.transaction(async ({ em }) => {
      for (let statement = 0; statement < 3; statement += 1) {
        setImmediate(() => turns.push(statement));
        await em.execute('select count(*) from generate_series(1, 300000)');
      }
    });
    expect(turns).toEqual([0, 1, 2]);
  });
});
