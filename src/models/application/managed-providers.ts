import type { ManagedProvider, Settings } from '../../platform/config/index.js';
import { MODEL_PROVIDERS, type ModelProvider } from '../providers/index.js';

/** The operator's access to a provider. @throws InvalidSetting */
export function managedAccess(settings: Settings, { environment }: ModelProvider): ManagedProvider {
  return settings.managedProvider(environment);
}

/** So that a wrong setting of a provider stops the start before anything is opened. @throws InvalidSetting */
export function checkProviderSettings(settings: Settings): void {
  for (const provider of MODEL_PROVIDERS) managedAccess(settings, provider);
}
