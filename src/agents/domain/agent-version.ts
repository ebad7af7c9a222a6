import type { FieldChange } from './field-change.js';

/** Who made a version. */
export type ChangedBy =
  | { readonly type: 'api_key'; readonly keyId: string; readonly memberId: string }
  | { readonly type: 'operator' };

export const BY_OPERATOR: ChangedBy = { type: 'operator' };

/** One effective change of an agent. Version 1 is its creation, which has no changes. */
export interface AgentVersion {
  readonly version: number;
  readonly createdAt: Date;
  readonly changedBy: ChangedBy;
  readonly changes: readonly FieldChange[];
}
