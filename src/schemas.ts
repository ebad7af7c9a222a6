import { accessSchema } from './access/index.js';
import { agentsSchema } from './agents/index.js';
import { conversationsSchema } from './conversations/index.js';
import { creditsSchema } from './credits/index.js';
import { filesSchema } from './files/index.js';
import { hooksSchema } from './hooks/index.js';
import { instructionsSchema } from './instructions/index.js';
import { integrationsTables } from './integrations/index.js';
import { knowledgeTables } from './knowledge/index.js';
import { memoriesSchema } from './memory/index.js';
import { modelsSchema } from './models/index.js';
import { tracesSchema } from './observability/index.js';
import type { ContextSchema } from './platform/database/index.js';
import { jobsSchema } from './platform/jobs/index.js';
import { vaultSchema } from './platform/vault/index.js';
import { sessionsSchema } from './sessions/index.js';
import { webhooksSchema } from './webhooks/index.js';

/** The tables of all contexts. Separate from `contexts`, because the command line opens the database without the rest of the service. */
export const schemas: readonly ContextSchema[] = [
  jobsSchema,
  vaultSchema,
  accessSchema,
  modelsSchema,
  agentsSchema,
  instructionsSchema,
  conversationsSchema,
  integrationsTables,
  knowledgeTables,
  hooksSchema,
  memoriesSchema,
  tracesSchema,
  creditsSchema,
  filesSchema,
  sessionsSchema,
  webhooksSchema,
];
