import type { Integration } from '../domain/integration.js';
import type { IntegrationOverview } from '../domain/tool-list.js';

/** As it is shown. */
export interface IntegrationWithState {
  readonly integration: Integration;
  /** Null until its server has been asked. */
  readonly state: IntegrationOverview | null;
}
