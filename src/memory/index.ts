import type { RunExtensions } from '../conversations/index.js';
import type { Context } from '../platform/context/index.js';
import { RecallMemories } from './application/memory.prompt-source.js';
import { MemoryTools } from './application/memory.tool-source.js';
import { MemoryModule } from './memory.module.js';
import { memoriesSchema } from './persistence/memories.schema.js';

export const memoryContext = {
  name: 'memory',
  modules: [MemoryModule],
  schema: memoriesSchema,
  runs: { promptSources: [RecallMemories], toolSources: [MemoryTools] },
} satisfies Context<RunExtensions>;

export { memoriesSchema };
