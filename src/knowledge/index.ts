import type { RunExtensions } from '../conversations/index.js';
import type { Context } from '../platform/context/index.js';
import { KnowledgeSearchTool } from './application/knowledge-search.tool-source.js';
import { KnowledgeModule } from './knowledge.module.js';
import { knowledgeTables } from './persistence/tables.js';

export const knowledgeContext = {
  name: 'knowledge',
  modules: [KnowledgeModule],
  schema: knowledgeTables,
  runs: { toolSources: [KnowledgeSearchTool] },
} satisfies Context<RunExtensions>;

export { knowledgeTables };
