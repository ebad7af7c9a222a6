import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { OTLP_VARIABLES } from './otlp.js';
import { trustedProxies } from './trusted-proxies.js';
import {
  exemptions,
  headerName,
  httpUrl,
  masterKey,
  portNumber,
  postgresUrl,
  redisUrl,
  seconds,
  wholeNumber,
  workflowPlatformUrl,
} from './variable-formats.js';

/** Which work this process does: everything, HTTP only, or background jobs only. */
export type ProcessRole = 'all' | 'api' | 'worker';

const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/** Timers of Node fire at once when they are set to more than 24 days. */
const MAX_SHUTDOWN_SECONDS = 3_600;

/** Where `npm run install:claude-agent` installs, beside this project's `package.json`. */
const CLAUDE_AGENT_FOLDER = fileURLToPath(new URL('../../../claude-agent', import.meta.url));

/** One year. */
const MAX_SESSION_SECONDS = 31_536_000;
const sessionSeconds = seconds(1, MAX_SESSION_SECONDS);

/** Every setting of the service except those of the providers, with its default. Empty and blank variables count as unset. */
export const environmentSchema = z.object({
  PORT: portNumber.default(3000),
  HOST: z.string().default('127.0.0.1'),
  METRICS_PORT: portNumber.optional(),
  PUBLIC_URL: httpUrl.optional(),
  TRUST_PROXY: trustedProxies.default([]),
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: postgresUrl.optional(),
  DATABASE_DIRECT_URL: postgresUrl.optional(),
  DATABASE_POOL: wholeNumber('a number of connections', 2, 500).default(10),
  REDIS_URL: redisUrl.optional(),
  REDIS_PREFIX: z
    .string()
    .regex(/^[\w.-]{1,64}$/, { message: 'must be 1 to 64 letters, digits, dots, dashes or underscores' })
    .default('agents'),
  SECRETS_KEY: masterKey.optional(),
  SECRETS_KEY_FALLBACK: masterKey.optional(),
  GATEWAY_BASE_URL: httpUrl.default('https://gateway.ai.cloudflare.com/v1'),
  GATEWAY_TOKEN_HEADER: headerName.default('cf-aig-authorization'),
  EGRESS_ALLOW: exemptions.optional(),
  MCP_CATALOGUE: z.string().optional(),
  MCP_LOCAL_SERVERS: wholeNumber('a number of processes', 0, 50).default(20),
  CLAUDE_AGENT_DIR: z.string().default(CLAUDE_AGENT_FOLDER),
  CLAUDE_AGENT_PROCESSES: wholeNumber('a number of processes', 1, 100).default(4),
  PATH: z.string().default('/usr/local/bin:/usr/bin:/bin'),
  WORKFLOW_PLATFORM_URL: workflowPlatformUrl.optional(),
  WORKFLOW_PLATFORM_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]+$/, { message: 'must be visible ASCII characters' })
    .optional(),
  EMBEDDINGS_BASE_URL: httpUrl.optional(),
  EMBEDDINGS_API_KEY: z.string().optional(),
  EMBEDDINGS_MODEL: z.string().max(200).optional(),
  DRIVE_API_BASE_URL: httpUrl.optional(),
  DRIVE_OAUTH_TOKEN_URL: httpUrl.optional(),
  DRIVE_OAUTH_AUTHORIZE_URL: httpUrl.optional(),
  DRIVE_OAUTH_CLIENT_ID: z.string().optional(),
  DRIVE_OAUTH_CLIENT_SECRET: z.string().optional(),
  FILES_S3_ENDPOINT: httpUrl.optional(),
  FILES_S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, { message: 'must be the name of a bucket' })
    .optional(),
  FILES_S3_REGION: z.string().optional(),
  FILES_S3_ACCESS_KEY_ID: z.string().optional(),
  FILES_S3_SECRET_ACCESS_KEY: z.string().optional(),
  ...OTLP_VARIABLES,
  SESSION_PASS_SECONDS: sessionSeconds.default(900),
  SESSION_RESUME_SECONDS: sessionSeconds.default(7_200),
  SESSION_RESUME_SECONDS_WITH_END_USER: sessionSeconds.default(86_400),
  SHUTDOWN_SECONDS: seconds(1, MAX_SHUTDOWN_SECONDS).default(25),
  SHUTDOWN_DELAY_SECONDS: seconds(0, MAX_SHUTDOWN_SECONDS).optional(),
  LOG_LEVEL: z.enum(LOG_LEVELS, { message: `must be one of ${LOG_LEVELS.join(', ')}` }).default('info'),
});

export type Environment = z.output<typeof environmentSchema>;
