import { resolve } from 'node:path';
import { checkTogether } from './check-together.js';
import { type Environment, environmentSchema, type ProcessRole } from './environment.js';
import { invalid } from './invalid-setting.js';
import { otlpOf } from './otlp.js';
import { httpUrl } from './variable-formats.js';

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
  /** Undefined means those that the machine provides to programs: variables and files of AWS, roles of containers and instances. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
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
  /** Where metrics and health are served apart from customers' requests; undefined means with them, and by no worker. */
  readonly metricsPort = this.env.METRICS_PORT;
  /** Where customers reach the service, without a trailing slash; by default, where it listens. */
  readonly publicUrl = this.env.PUBLIC_URL;
  /** Networks, as CIDR, of the proxies whose `X-Forwarded-For` the service trusts. */
  readonly trustedProxies: readonly string[] = this.env.TRUST_PROXY;
  readonly dataDir = this.env.DATA_DIR;
  /** How PostgreSQL and Redis list the connections of this process. */
  readonly processName = this.role === 'all' ? 'agent-service' : `agent-service ${this.role}`;
  readonly databaseUrl = this.env.DATABASE_URL;
  /** The server of `DATABASE_URL` past a pooler, for what needs a session of its own; undefined if `DATABASE_URL` leads to none. */
  readonly databaseDirectUrl = this.env.DATABASE_DIRECT_URL;
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
  /** How long a stopping process serves requests and waits for its runs to end. */
  readonly shutdownMs = this.env.SHUTDOWN_SECONDS * 1000;
  /** The part of it in which new requests are served. */
  readonly shutdownDelayMs = shutdownDelayOf(this.env) * 1000;
  readonly logLevel = this.env.LOG_LEVEL;
}

/** Without Redis there is one process, to which no balancer has an alternative. */
function shutdownDelayOf({ SHUTDOWN_DELAY_SECONDS: set, SHUTDOWN_SECONDS: whole, REDIS_URL }: Environment): number {
  return set ?? (REDIS_URL === undefined ? 0 : Math.min(5, Math.floor(whole / 5)));
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
  if (bucket === undefined) return undefined;
  const credentials =
    accessKeyId === undefined || secretAccessKey === undefined ? undefined : { accessKeyId, secretAccessKey };
  return { endpoint, region, bucket, credentials };
}

/**
 * Reads and checks the environment.
 * @throws InvalidSetting naming the first wrong or missing variable, never its value, which may be a secret
 */
export function readSettings(
  environment: Readonly<Record<string, string | undefined>>,
  { role, demo }: { readonly role: ProcessRole; readonly demo: boolean },
): Settings {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value?.trim() !== ''));
  const parsed = environmentSchema.safeParse(present);
  if (!parsed.success) {
    throw invalid(String(parsed.error.issues[0]?.path[0]), parsed.error);
  }
  checkTogether(parsed.data, role);
  const providerVariables = Object.entries(present).filter(([name]) => PROVIDER_VARIABLE.test(name));
  return new Settings(role, demo, parsed.data, Object.fromEntries(providerVariables));
}

/** The settings of this process, from its environment. @throws InvalidSetting */
export function loadSettings(options: { readonly role: ProcessRole; readonly demo: boolean }): Settings {
  return readSettings(process.env, options);
}
