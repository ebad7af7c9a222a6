import { describe, expect, it } from '@jest/globals';
import { Turns } from './turns.js';

describe('turns', () => {
  it('come in the order of asking, with others having theirs in between', async () => {
    const turns = new Turns();
    const done: string[] = [];
    const step = (name: string): Promise<void> => turns.next().then(() => void done.push(name));
    const steps = [step('first'), step('second'), step('third')];
    let others = 0;
    const other = (): void => {
      done.push('other');
      others += 1;
      if (others < 3) setImmediate(other);
    };
    setImmediate(other);
    await Promise.all(steps);
    expect(done.filter((name) => name !== 'other')).toEqual(['first', 'second', 'third']);
    expect(done.join(' ')).toMatch(/first other.* second other.* third/);
  });
});
