import { comparisonTable } from './lanes.ts';
import type { MemoryLaneName, MemoryResult } from './memory.ts';

export function memoryText({ memories, lanes, prompt: { shown, characters } }: MemoryResult): string {
  const titles: Readonly<Record<MemoryLaneName, string>> = {
    off: 'memory off',
    empty: 'memory on, nothing remembered',
    full: `memory on, ${memories} memories`,
    'no such tool': `${memories} memories, a call of no tool`,
    search: `${memories} memories, a search`,
    save: `${memories} memories, a save`,
  };
  return [
    comparisonTable(titles, lanes),
    `The prompt showed ${shown} of the ${memories} memories, in ${characters} characters.`,
  ].join('\n\n');
}
