/** SQL because the table `agents` belongs to another context, so it has no entity here. */
import { statement } from '../../../platform/database/index.js';

export const FIND_AGENT = statement(
  { organizationId: 'uuid', agentId: 'uuid' },
  (p) => `select 1 from agents where organization_id = ${p.organizationId} and id = ${p.agentId}`,
);
