export type { ProcessRole } from './environment.js';
export { InvalidSetting, StartFailure } from './invalid-setting.js';
export { readJsonFile } from './json-file.js';
export type { OtlpBackend } from './otlp.js';
export { RELEASE } from './release.js';
export { redisServers, type RedisServers } from './redis-url.js';
export {
  type EmbeddingsEndpoint,
  type FilesBucket,
  loadSettings,
  type ManagedProvider,
  readSettings,
  Settings,
  type WorkflowPlatform,
} from './settings.js';
