import { type ProcessRole, readSettings, type Settings } from './settings.js';

/** The settings of this process, from its environment. The one place that reads it. @throws InvalidSetting */
export function loadSettings(options: { readonly role: ProcessRole; readonly demo: boolean }): Settings {
  return readSettings(process.env, options);
}
