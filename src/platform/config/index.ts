export { readJsonFile } from './json-file.js';
export type { OtlpBackend } from './otlp.js';
export {
  type EmbeddingsEndpoint,
  type FilesBucket,
  InvalidSetting,
  loadSettings,
  type ManagedProvider,
  type ProcessRole,
  readSettings,
  Settings,
  StartFailure,
  type WorkflowPlatform,
} from './settings.js';
