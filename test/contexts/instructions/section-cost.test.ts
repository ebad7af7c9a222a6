import { beforeEach, describe, expect, it } from '@jest/globals';
import { useService } from '../../support/harness.js';
import { StoppedClock } from '../../support/shifted-clock.js';
import { statementsOf } from '../../support/statements.js';
import { about, Sections } from './support.js';

const service = useService({ clock: new StoppedClock() });
let agent: Sections;

beforeEach(async () => {
  agent = await Sections.start(service);
});

function times<Result>(count: number, make: (index: number) => Result): Result[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

describe('the cost of reading sections', () => {
  it('is two statements for any number of sections', async () => {
    await agent.filled(...times(100, (n) => `section ${n}`));
    expect(await statementsOf(service.database, () => agent.get())).toHaveLength(2);
  });
});

describe('the cost of a PUT of 100 sections', () => {
  const names = times(100, (n) => `section ${n}`);

  /** The versions of the stored rows: a row that is written again, even without a change, has another. */
  async function rows(): Promise<string[]> {
    const found = await service.database.query(
      'select id, xmin::text, ctid::text from sections where agent_id = $1 order by position',
      [agent.agentId],
    );
    return found.map((row) => JSON.stringify(row));
  }

  it('is two statements when nothing changes, also right after a change', async () => {
    await agent.filled(...names);
    for (const _ of times(2, () => 0)) {
      const statements = await statementsOf(service.database, () => agent.filled(...names));
      expect(statements).toHaveLength(2);
    }
  });

  it('does not grow with the number of sections that change', async () => {
    const cost = async (count: number): Promise<number> => {
      const target = await Sections.start(service);
      await target.put([{ name: 'gone', content: 'x' }, ...names.slice(0, count).map(about)]);
      const added = times(count, (n) => about(`new ${n}`));
      const changed = names.slice(0, count).map((name) => ({ name, content: 'Else.' }));
      const statements = await statementsOf(service.database, () => target.put([...added, ...changed]));
      expect(await target.list()).toHaveLength(2 * count);
      return statements.length;
    };
    expect(await cost(50)).toBe(await cost(1));
  });

  it('includes no write when nothing changes, nor does such a PATCH', async () => {
    const [first] = await agent.filled(...names);
    const before = await rows();
    await agent.filled(...names);
    await agent.patch(first?.id ?? '', about(first?.name ?? ''));
    expect(await rows()).toEqual(before);
  });

  it('includes only writes of rows that change', async () => {
    await agent.filled(...names);
    const before = await rows();
    await agent.put(names.map((name, n) => (n === 50 ? { name, content: 'Else.' } : about(name))));
    const after = await rows();
    expect(before.filter((row) => !after.includes(row))).toHaveLength(1);
  });
});
