import { codeOf, type Memory } from './memory.js';
import { quoteMemory } from './quoted-memories.js';

/** The outcome of a save, with the memories that are similar to the text without saying the same. */
export type SavedMemory =
  | { readonly outcome: 'saved'; readonly memory: Memory; readonly similar: readonly Memory[] }
  /** It replaced a memory that it corrects or that said the same. */
  | {
      readonly outcome: 'replaced';
      readonly memory: Memory;
      readonly before: Memory;
      readonly similar: readonly Memory[];
    }
  /** No memory, or more than one, has the given code. Nothing was saved. */
  | { readonly outcome: 'unknown_code' };

/** The answer for the model that called `memory_save`. */
export function describeSaved(saved: SavedMemory, now: Date): string {
  switch (saved.outcome) {
    case 'saved':
      return [`Saved as ${codeOf(saved.memory.id)}.`, ...describeSimilar(saved.similar, now)].join('\n');
    case 'replaced':
      return [
        `Saved as ${codeOf(saved.memory.id)}, in place of this earlier memory: ${quoteMemory(saved.before, now)}`,
        ...describeSimilar(saved.similar, now),
      ].join('\n');
    case 'unknown_code':
      return 'Nothing was saved: `replaces` is not the code of a memory of this user. Find it with memory_search, or leave `replaces` out for something new.';
    default:
      return saved satisfies never;
  }
}

function describeSimilar(similar: readonly Memory[], now: Date): string[] {
  if (similar.length === 0) return [];
  const quoted = similar.map((memory) => quoteMemory(memory, now));
  return [
    'These memories are similar and were kept. Where this corrects one of them, or says the same, save it again with its code as `replaces`:',
    ...quoted,
  ];
}
