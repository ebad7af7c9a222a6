/** Hot path: written by hand because the server plans such a statement once, and no entity is made of the row. */
import { statement } from '../../platform/database/index.js';

export interface SessionFactsRow {
  readonly api_key_id: string;
  readonly user_key: string | null;
}

export const FIND_SESSION_FACTS = statement(
  { organizationId: 'uuid', id: 'uuid' },
  (p) => `select api_key_id, user_key from sessions where organization_id = ${p.organizationId} and id = ${p.id}`,
);
