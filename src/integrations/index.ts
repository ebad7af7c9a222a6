import type { RunExtensions } from '../conversations/index.js';
import type { Context } from '../platform/context/index.js';
import { OfferIntegrationTools } from './application/offer-integration-tools.tool-source.js';
import { IntegrationsModule } from './integrations.module.js';
import { integrationsTables } from './persistence/integrations.schema.js';

export const integrationsContext = {
  name: 'integrations',
  modules: [IntegrationsModule],
  schema: integrationsTables,
  runs: { toolSources: [OfferIntegrationTools] },
} satisfies Context<RunExtensions>;

export { IntegrationsModule, integrationsTables };
export { type AppTool, type AppToolAnswer, AppTools } from './application/app-tools.js';
export { type AppToolName, HiddenTools } from './application/hidden-tools.js';
export { AuthorizationNeeded } from './domain/integrations.events.js';
export { AppToolMissing } from './domain/integrations.errors.js';
export { checkCatalogueSetting } from './catalogue/app-catalogue.js';
