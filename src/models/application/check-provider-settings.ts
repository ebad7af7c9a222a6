import type { Settings } from '../../platform/config/index.js';
import { MODEL_PROVIDERS } from '../providers/index.js';

/** Reads the settings of every provider, so that a wrong one stops the start of the service. @throws InvalidSetting */
export function checkProviderSettings(settings: Settings): void {
  for (const { environment } of MODEL_PROVIDERS) settings.managedProvider(environment);
}
