import type { Integration } from '../domain/integration.js';
import type { IntegrationOverview } from '../domain/tool-list.js';

export interface IntegrationWithState {
  readonly integration: Integration;
  /** Null until its server has been checked. */
  readonly state: IntegrationOverview | null;
}
