import type { RunExtensions } from '../conversations/index.js';
import type { Context } from '../platform/context/index.js';
import { KnowledgeSearchTool } from './index/application/knowledge-search.tool-source.js';
import { KnowledgeModule } from './knowledge.module.js';
import { knowledgeTables } from './tables.js';

export const knowledgeContext = {
  name: 'knowledge',
  modules: [KnowledgeModule],
  schema: knowledgeTables,
  runs: { toolSources: [KnowledgeSearchTool] },
} satisfies Context<RunExtensions>;

export { knowledgeTables };
export { KnowledgeSyncFinished } from './index/domain/knowledge.events.js';
