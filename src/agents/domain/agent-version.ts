import { z } from 'zod';
import type { ApiKeyPrincipal } from '../../access/index.js';
import type { Stored } from '../../platform/stored-json/index.js';

/** Who created a version. */
export const changedBy = z.discriminatedUnion('type', [
  z.object({ type: z.literal('api_key'), keyId: z.string(), memberId: z.string() }),
  z.object({ type: z.literal('operator') }),
]);
export type ChangedBy = Stored<typeof changedBy>;

export const BY_OPERATOR: ChangedBy = { type: 'operator' };

export function changedByKey({ keyId, memberId }: ApiKeyPrincipal): ChangedBy {
  return { type: 'api_key', keyId, memberId };
}

/** One change of an agent that took effect. Version 1 is its creation, which has no changes. */
export interface AgentVersion {
  readonly version: number;
  readonly createdAt: Date;
  readonly changedBy: ChangedBy;
  readonly changes: readonly FieldChange[];
}

/** One field whose value a change replaced, with the name and shape that responses had at that time. */
export const fieldChange = z.object({
  /** The field, or a path: `systemPrompt`, `provider.apiKey`, `sections.Tone of voice`. */
  field: z.string(),
  before: z.unknown(),
  after: z.unknown(),
});
export type FieldChange = Stored<typeof fieldChange>;

const REDACTED = '<redacted>';

/** A secret was replaced; the history contains neither value. */
export function secretChange(field: string): FieldChange {
  return { field, before: REDACTED, after: REDACTED };
}
