import type { EventType } from './webhook-event.js';

/** Why the service switched an endpoint off: it responded with 410, or nothing was delivered for five days. */
export const DISABLED_REASONS = ['gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

export interface EndpointSettings {
  readonly url: string;
  readonly events: readonly EventType[];
  /** The agents whose events it receives; null for all. */
  readonly agentIds: readonly string[] | null;
  readonly description: string | null;
}

export interface Endpoint extends EndpointSettings {
  readonly id: string;
  readonly organizationId: string;
  readonly enabled: boolean;
  /** Null while enabled, and when a caller disabled it. */
  readonly disabledReason: DisabledReason | null;
  readonly createdAt: Date;
}

export type EndpointChanges = Partial<EndpointSettings> & { readonly enabled?: boolean };
