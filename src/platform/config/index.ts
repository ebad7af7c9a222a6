export { type FilesBucket, InvalidSetting, readSettings, Settings, type ManagedProvider, type ProcessRole } from './settings.js';
export { loadSettings } from './load-settings.js';
