import type { ContextSchema } from '../../platform/database/index.js';
import { integrationsSchema } from './integrations.schema.js';
import { oauthSchema } from './oauth.schema.js';

/** All tables of the context. */
export const integrationsTables: ContextSchema = {
  entities: [...integrationsSchema.entities, ...oauthSchema.entities],
  migrations: [...integrationsSchema.migrations, ...oauthSchema.migrations],
};
