import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { OTLP_VARIABLES, otlpOf } from './otlp.js';
import { trustedProxies } from './trusted-proxies.js';

/** Which work this process does: everything, HTTP only, or background jobs only. */
export type ProcessRole = 'all' | 'api' | 'worker';

const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

const httpUrl = z
  .url({ protocol: /^https?$/, message: 'must be an http or https URL' })
  .transform((url) => url.replace(/\/+$/, ''));

/** Headers that requests to a provider already use. */
const TAKEN_HEADERS = ['authorization', 'x-api-key', 'host', 'content-type', 'content-length', 'connection'];

const headerName = z
  .string()
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, { message: 'must be the name of an HTTP header' })
  .toLowerCase()
  .refine((name) => !TAKEN_HEADERS.includes(name), { message: `must not be one of ${TAKEN_HEADERS.join(', ')}` });

const positiveSeconds = z.coerce.number({ message: 'must be a whole number of seconds' }).int().positive();

/** Where `npm run install:claude-agent` installs, beside this project's `package.json`. */
const CLAUDE_AGENT_FOLDER = fileURLToPath(new URL('../../../claude-agent', import.meta.url));

const AGENT_PROCESSES_RANGE = { message: 'must be a number of processes, 1 to 100' };

/** One year. */
const MAX_SESSION_SECONDS = 31_536_000;
const sessionSeconds = positiveSeconds.max(MAX_SESSION_SECONDS, {
  message: `must be at most ${MAX_SESSION_SECONDS} seconds`,
});

const masterKey = z
  .string()
  .refine((key) => Buffer.from(key, 'base64').length === 32, { message: 'must be 32 bytes in base64' });

/** `host:port`, with the host as the URL standard writes it. */
const hostAndPort = /^(\[[^\]]+\]|[^[\]:/@?#\\\s]+):(\d{1,5})$/;

function exemption(entry: string): string | undefined {
  const [, host, port] = hostAndPort.exec(entry) ?? [];
  const parsed = host === undefined ? null : URL.parse(`http://${host}/`);
  if (!parsed || Number(port) < 1 || Number(port) > 65_535) return undefined;
  return `${parsed.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')}:${Number(port)}`;
}

/** The placeholder in `WORKFLOW_PLATFORM_URL` for the slug of an integration. */
const SLUG_PLACEHOLDER = '{nameSlug}';

const workflowPlatformUrl = z.string().superRefine((template, context) => {
  const [url, other] = ['a', 'b'].map((slug) => URL.parse(template.replaceAll(SLUG_PLACEHOLDER, slug)));
  if (!url || !other || !/^https?:$/.test(url.protocol)) {
    context.addIssue('must be an http or https URL, which may contain {nameSlug}');
  } else if (url.username !== '' || url.password !== '') {
    context.addIssue('must not contain a user name or password; WORKFLOW_PLATFORM_TOKEN is sent');
  } else if (url.origin !== other.origin) {
    context.addIssue(
      'may contain {nameSlug} only in its path and query: customers choose it, and the token is sent to the host',
    );
  }
});

const exemptions = z
  .string()
  .transform((list) => list.split(',').map((entry) => exemption(entry.trim())))
  .refine((list): list is string[] => !list.includes(undefined), {
    message: 'must be a comma-separated list of host:port, such as tools.internal:8080,[fd00::1]:443',
  });

/** Every setting of the service except those of the providers, with its default. Empty variables count as unset. */
const environmentSchema = z.object({
  PORT: z.coerce.number({ message: 'must be a port number' }).int().min(0).max(65_535).default(3000),
  HOST: z.string().default('127.0.0.1'),
  PUBLIC_URL: httpUrl.optional(),
  TRUST_PROXY: trustedProxies.default([]),
  DATA_DIR: z.string().default('.data'),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, message: 'must be a postgresql:// URL' }).optional(),
  DATABASE_POOL: z.coerce.number({ message: 'must be a number of connections' }).int().min(2).max(500).default(10),
  REDIS_URL: z.url({ protocol: /^rediss?$/, message: 'must be a redis:// or rediss:// URL' }).optional(),
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
  MCP_LOCAL_SERVERS: z.coerce.number({ message: 'must be a number of processes' }).int().min(0).max(50).default(20),
  CLAUDE_AGENT_DIR: z.string().default(CLAUDE_AGENT_FOLDER),
  CLAUDE_AGENT_PROCESSES: z.coerce
    .number(AGENT_PROCESSES_RANGE)
    .int(AGENT_PROCESSES_RANGE)
    .min(1, AGENT_PROCESSES_RANGE)
    .max(100, AGENT_PROCESSES_RANGE)
    .default(4),
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
  SHUTDOWN_SECONDS: positiveSeconds.default(30),
  LOG_LEVEL: z.enum(LOG_LEVELS, { message: `must be one of ${LOG_LEVELS.join(', ')}` }).default('info'),
});

/** Variables that may belong to a provider. */
const PROVIDER_VARIABLE = /^[A-Z0-9_]+_(API_KEY|BASE_URL)$/;

/** The operator's access to a model provider. */
export interface ManagedProvider {
  readonly apiKey: string | undefined;
  readonly baseUrl: string | undefined;
}

/** Where uploaded files go instead of the disk. */
export interface FilesBucket {
  /** Undefined means the store of AWS in `region`. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The platform whose workflows organizations may offer as tools. */
export interface WorkflowPlatform {
  /** May contain `{nameSlug}`, in its path or query, for the slug of an integration. */
  readonly url: string;
  readonly token: string;
}

/** The endpoint that turns texts into vectors, with the OpenAI embeddings API. */
export interface EmbeddingsEndpoint {
  readonly baseUrl: string;
  /** Undefined for endpoints that need none. */
  readonly apiKey: string | undefined;
  readonly model: string;
}

/** The URLs of the cloud drive. */
export interface DriveEndpoints {
  /** Without a path: `/drive/v3/...` is appended. */
  readonly apiBaseUrl: string;
  readonly tokenUrl: string;
  readonly authorizeUrl: string;
  /** This service as the drive's OAuth client; undefined disables sign-in. */
  readonly client: { readonly id: string; readonly secret: string } | undefined;
}

type Environment = z.output<typeof environmentSchema>;
type Variable = keyof Environment;

class WithEnvironment {
  constructor(
    readonly role: ProcessRole,
    /** The sandbox model replaces every model, without a key or the network. */
    readonly demo: boolean,
    protected readonly env: Environment,
    private readonly providerVariables: Readonly<Record<string, string | undefined>>,
  ) {}

  /**
   * The provider whose variables are `<name>_API_KEY` and `<name>_BASE_URL`, name in capitals.
   * @throws InvalidSetting
   */
  managedProvider(name: string): ManagedProvider {
    const variable = `${name}_BASE_URL`;
    const baseUrl = httpUrl.optional().safeParse(this.providerVariables[variable]);
    if (!baseUrl.success) throw invalid(variable, baseUrl.error);
    return { apiKey: this.providerVariables[`${name}_API_KEY`], baseUrl: baseUrl.data };
  }
}

/** The validated settings. No other code reads the environment. */
export class Settings extends WithEnvironment {
  readonly port = this.env.PORT;
  readonly host = this.env.HOST;
  /** Where customers reach the service, without a trailing slash; by default, where it listens. */
  readonly publicUrl = this.env.PUBLIC_URL;
  /** Networks, as CIDR, of the proxies whose `X-Forwarded-For` the service trusts. */
  readonly trustedProxies: readonly string[] = this.env.TRUST_PROXY;
  readonly dataDir = this.env.DATA_DIR;
  readonly databaseUrl = this.env.DATABASE_URL;
  /** The most connections that this process opens to the database. */
  readonly databasePool = this.env.DATABASE_POOL;
  readonly redisUrl = this.env.REDIS_URL;
  /** The prefix of every key in Redis, so that several services can share one. */
  readonly redisPrefix = this.env.REDIS_PREFIX;
  /** No `DATABASE_URL`: PostgreSQL runs inside this process, in `DATA_DIR`. */
  readonly embedded = this.env.DATABASE_URL === undefined;
  readonly secretsKey = this.env.SECRETS_KEY;
  /** A second master key, used only for reading: the next or the previous one during a rotation. */
  readonly secretsKeyFallback = this.env.SECRETS_KEY_FALLBACK;
  /** The routing gateways of customers: the prefix of their URLs, and the header for their tokens. */
  readonly gateway = { baseUrl: this.env.GATEWAY_BASE_URL, tokenHeader: this.env.GATEWAY_TOKEN_HEADER };
  /** The operator's private services, as `host:port`, that customers' URLs may name. */
  readonly egressAllow: ReadonlySet<string> = new Set(this.env.EGRESS_ALLOW);
  /** Path of a JSON file with the operator's own entries of the catalogue of apps. */
  readonly mcpCatalogue = this.env.MCP_CATALOGUE;
  /** The most local tool servers that this process runs at a time. */
  readonly mcpLocalServers = this.env.MCP_LOCAL_SERVERS;
  /** The folder with the Claude Agent SDK, and the most SDK processes that this process runs at a time. */
  readonly claudeAgent = { folder: resolve(this.env.CLAUDE_AGENT_DIR), processes: this.env.CLAUDE_AGENT_PROCESSES };
  /** The folders with the programs of local tool servers. */
  readonly programPath = this.env.PATH;
  readonly workflowPlatform = workflowPlatformOf(this.env);
  /** Undefined means that knowledge is searched by keywords only. */
  readonly embeddings = embeddingsOf(this.env);
  readonly drive = driveOf(this.env);
  /** The bucket of `FILES_S3_*`; undefined means the disk. */
  readonly filesBucket = bucketOf(this.env);
  /** Where traces are pushed; undefined means nowhere. */
  readonly otlp = otlpOf(this.env);
  /** Lifetimes of a web session's pass and of its resume token, with which the session ends, in seconds. */
  readonly sessions = {
    passSeconds: this.env.SESSION_PASS_SECONDS,
    resumeSeconds: this.env.SESSION_RESUME_SECONDS,
    resumeSecondsWithEndUser: this.env.SESSION_RESUME_SECONDS_WITH_END_USER,
  };
  /** How long a stopping process waits for its runs to end. */
  readonly shutdownMs = this.env.SHUTDOWN_SECONDS * 1000;
  readonly logLevel = this.env.LOG_LEVEL;
}

function workflowPlatformOf({
  WORKFLOW_PLATFORM_URL: url,
  WORKFLOW_PLATFORM_TOKEN: token,
}: Environment): WorkflowPlatform | undefined {
  return url === undefined || token === undefined ? undefined : { url, token };
}

function embeddingsOf({
  EMBEDDINGS_BASE_URL: baseUrl = 'https://api.openai.com/v1',
  EMBEDDINGS_API_KEY: apiKey,
  EMBEDDINGS_MODEL: model,
}: Environment): EmbeddingsEndpoint | undefined {
  return model === undefined ? undefined : { baseUrl, apiKey, model };
}

function driveOf(env: Environment): DriveEndpoints {
  const { DRIVE_API_BASE_URL: own, DRIVE_OAUTH_CLIENT_ID: id, DRIVE_OAUTH_CLIENT_SECRET: secret } = env;
  return {
    apiBaseUrl: own ?? 'https://www.googleapis.com',
    tokenUrl: env.DRIVE_OAUTH_TOKEN_URL ?? (own === undefined ? 'https://oauth2.googleapis.com/token' : `${own}/token`),
    authorizeUrl:
      env.DRIVE_OAUTH_AUTHORIZE_URL ??
      (own === undefined ? 'https://accounts.google.com/o/oauth2/v2/auth' : `${own}/o/oauth2/v2/auth`),
    client: id === undefined || secret === undefined ? undefined : { id, secret },
  };
}

function bucketOf(env: Environment): FilesBucket | undefined {
  const {
    FILES_S3_ENDPOINT: endpoint,
    FILES_S3_REGION: region = 'us-east-1',
    FILES_S3_BUCKET: bucket,
    FILES_S3_ACCESS_KEY_ID: accessKeyId,
    FILES_S3_SECRET_ACCESS_KEY: secretAccessKey,
  } = env;
  if (bucket === undefined || accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return { endpoint, region, bucket, accessKeyId, secretAccessKey };
}

/** An error at the start that the operator can fix; `message` is one line with the reason. */
export class StartFailure extends Error {}

/** A wrong setting; `message` names it. */
export class InvalidSetting extends StartFailure {}

/**
 * Reads and checks the environment.
 * @throws InvalidSetting naming the first wrong or missing variable, never its value, which may be a secret
 */
export function readSettings(
  environment: Readonly<Record<string, string | undefined>>,
  { role, demo }: { readonly role: ProcessRole; readonly demo: boolean },
): Settings {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = environmentSchema.safeParse(present);
  if (!parsed.success) {
    throw invalid(String(parsed.error.issues[0]?.path[0]), parsed.error);
  }
  const env = parsed.data;
  if (env.REDIS_URL !== undefined && env.DATABASE_URL === undefined) {
    throw new InvalidSetting('REDIS_URL: needs DATABASE_URL as well; without both the service runs embedded');
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
  requireTogether(
    env,
    ['FILES_S3_BUCKET', 'FILES_S3_ACCESS_KEY_ID', 'FILES_S3_SECRET_ACCESS_KEY'],
    ['FILES_S3_ENDPOINT', 'FILES_S3_REGION'],
  );
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
  if (role !== 'all' && (env.DATABASE_URL === undefined || env.REDIS_URL === undefined)) {
    const missing = env.DATABASE_URL === undefined ? 'DATABASE_URL' : 'REDIS_URL';
    throw new InvalidSetting(
      `${missing}: is required to run the ${role} on its own; without it use npm start, which runs everything in one process`,
    );
  }
  const providerVariables = Object.entries(present).filter(([name]) => PROVIDER_VARIABLE.test(name));
  return new Settings(role, demo, env, Object.fromEntries(providerVariables));
}

/** Never quotes the value, which may be a secret. */
function invalid(variable: string, { issues }: z.ZodError): InvalidSetting {
  return new InvalidSetting(`${variable}: ${issues[0]?.message ?? 'is not valid'}`);
}

/** Half a group would silently count as none of it. */
function requireTogether(env: Environment, required: readonly Variable[], optional: readonly Variable[] = []): void {
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

/** The settings of this process, from its environment. @throws InvalidSetting */
export function loadSettings(options: { readonly role: ProcessRole; readonly demo: boolean }): Settings {
  return readSettings(process.env, options);
}
