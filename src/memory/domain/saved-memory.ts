import { codeOf, type Memory } from './memory.js';
import { quoteMemory } from './quoted-memories.js';

export interface SavedMemory {
  readonly memory: Memory;
  /** The memory that it corrects or that said the same. */
  readonly replaced: Memory | undefined;
  /** Memories that are similar to the text without saying the same. */
  readonly similar: readonly Memory[];
}

/** The answer for the model that called `memory_save`. */
export function describeSaved({ memory, replaced, similar }: SavedMemory, now: Date): string {
  const inPlace = replaced ? `, in place of this earlier memory: ${quoteMemory(replaced, now)}` : '.';
  const notice =
    'These memories are similar and were kept. Where this corrects one of them, or says the same, save it again with its code as `replaces`:';
  const kept = similar.length === 0 ? [] : [notice, ...similar.map((other) => quoteMemory(other, now))];
  return [`Saved as ${codeOf(memory.id)}${inPlace}`, ...kept].join('\n');
}
