import type { Environment, ProcessRole } from './environment.js';
import { InvalidSetting } from './invalid-setting.js';

/** Checks the variables that depend on each other. @throws InvalidSetting, which names the one to change */
export function checkTogether(env: Environment, role: ProcessRole): void {
  checkServers(env);
  checkProcess(env);
  checkOutsideServices(env);
  checkRole(env, role);
}

function checkServers(env: Environment): void {
  if (env.REDIS_URL !== undefined && env.DATABASE_URL === undefined) {
    throw new InvalidSetting('REDIS_URL: needs DATABASE_URL as well; without both the service runs embedded');
  }
  if (env.DATABASE_DIRECT_URL !== undefined && env.DATABASE_URL === undefined) {
    throw new InvalidSetting('DATABASE_DIRECT_URL: needs DATABASE_URL as well, the address of the queries');
  }
  if (env.DATABASE_URL !== undefined && env.SECRETS_KEY === undefined) {
    throw new InvalidSetting('SECRETS_KEY: is required with DATABASE_URL (32 random bytes in base64)');
  }
  if (env.SECRETS_KEY_FALLBACK !== undefined && env.SECRETS_KEY === undefined) {
    throw new InvalidSetting('SECRETS_KEY_FALLBACK: needs SECRETS_KEY as well, the key that is written under');
  }
  if (env.SECRETS_KEY_FALLBACK !== undefined && env.SECRETS_KEY_FALLBACK === env.SECRETS_KEY) {
    throw new InvalidSetting('SECRETS_KEY_FALLBACK: must be another key than SECRETS_KEY, or be left out');
  }
}

function checkProcess(env: Environment): void {
  if ((env.SHUTDOWN_DELAY_SECONDS ?? 0) >= env.SHUTDOWN_SECONDS) {
    throw new InvalidSetting(`SHUTDOWN_DELAY_SECONDS: must be less than SHUTDOWN_SECONDS, ${env.SHUTDOWN_SECONDS}`);
  }
}

function checkOutsideServices(env: Environment): void {
  requireTogether(
    env,
    ['FILES_S3_BUCKET'],
    ['FILES_S3_ACCESS_KEY_ID', 'FILES_S3_SECRET_ACCESS_KEY', 'FILES_S3_ENDPOINT', 'FILES_S3_REGION'],
  );
  requireTogether(env, ['FILES_S3_ACCESS_KEY_ID', 'FILES_S3_SECRET_ACCESS_KEY']);
  requireTogether(env, ['DRIVE_OAUTH_CLIENT_ID', 'DRIVE_OAUTH_CLIENT_SECRET']);
  requireTogether(env, ['WORKFLOW_PLATFORM_URL', 'WORKFLOW_PLATFORM_TOKEN']);
  checkEmbeddings(env);
  if (env.DRIVE_API_BASE_URL !== undefined && URL.parse(env.DRIVE_API_BASE_URL)?.pathname !== '/') {
    throw new InvalidSetting('DRIVE_API_BASE_URL: must hold no path; /drive/v3 comes after it');
  }
  // The exporter reads this variable itself, past the checks of the other headers.
  if (env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined && env.OTEL_EXPORTER_OTLP_TRACES_HEADERS !== undefined) {
    throw new InvalidSetting(
      'OTEL_EXPORTER_OTLP_TRACES_HEADERS: is not taken; put the headers into OTEL_EXPORTER_OTLP_HEADERS',
    );
  }
}

function checkRole(env: Environment, role: ProcessRole): void {
  if (role !== 'all' && (env.DATABASE_URL === undefined || env.REDIS_URL === undefined)) {
    const missing = env.DATABASE_URL === undefined ? 'DATABASE_URL' : 'REDIS_URL';
    throw new InvalidSetting(
      `${missing}: is required to run the ${role} on its own; without it use npm start, which runs everything in one process`,
    );
  }
}

/** Half a group would silently count as none of it. */
function requireTogether(
  env: Environment,
  required: readonly (keyof Environment)[],
  optional: readonly (keyof Environment)[] = [],
): void {
  const given = [...required, ...optional].find((name) => env[name] !== undefined);
  const missing = required.find((name) => env[name] === undefined);
  if (given !== undefined && missing !== undefined) {
    throw new InvalidSetting(`${missing}: is required with ${given}`);
  }
}

function checkEmbeddings(env: Environment): void {
  const { EMBEDDINGS_BASE_URL: baseUrl, EMBEDDINGS_API_KEY: apiKey, EMBEDDINGS_MODEL: model } = env;
  if (model === undefined && (baseUrl !== undefined || apiKey !== undefined)) {
    throw new InvalidSetting(
      `EMBEDDINGS_MODEL: is required with ${baseUrl === undefined ? 'EMBEDDINGS_API_KEY' : 'EMBEDDINGS_BASE_URL'}`,
    );
  }
  if (model !== undefined && baseUrl === undefined && apiKey === undefined) {
    throw new InvalidSetting(
      'EMBEDDINGS_API_KEY: is required with EMBEDDINGS_MODEL, unless EMBEDDINGS_BASE_URL names an endpoint that needs none',
    );
  }
}
