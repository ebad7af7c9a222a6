export {
  type FilesBucket,
  InvalidSetting,
  loadSettings,
  type ManagedProvider,
  type ProcessRole,
  readSettings,
  Settings,
} from './settings.js';
