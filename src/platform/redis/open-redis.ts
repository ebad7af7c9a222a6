import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { redisServers, type RedisServers } from '../config/index.js';

/** A connection to one server (which sentinels may name), or connections to the nodes of a cluster. */
export type RedisClient = Redis | Cluster;

/** What a caller decides; the URL decides the rest. */
export type ClientOptions = Pick<
  RedisOptions,
  | 'autoResubscribe'
  | 'commandTimeout'
  | 'connectionName'
  | 'connectTimeout'
  | 'enableOfflineQueue'
  | 'lazyConnect'
  | 'maxRetriesPerRequest'
  | 'scripts'
> & { readonly retryStrategy?: (attempt: number) => number };

/** Attempts of a command in a cluster whose node is lost, with pauses of 100 ms; a caller that does not wait for Redis falls back then. */
const ATTEMPTS_IN_CLUSTER = 2;

/** How long a sentinel may take to answer before the next one is asked. */
const SENTINEL_MS = 2_000;

/** More than a worker of the queue waits with one command, 10 s. */
const SILENT_NODE_MS = 15_000;

/** @param url as `REDIS_URL`: `redis://`, `redis+sentinel://` or `redis+cluster://`, with TLS `rediss` */
export function openRedis(url: string, options: ClientOptions): RedisClient {
  const servers = redisServers(url);
  // A server that has become a replica refuses writes until its clients connect to the new master.
  const own: RedisOptions = { ...options, reconnectOnError: ({ message }) => message.startsWith('READONLY') };
  if (!servers) return new Redis(url, own);
  const { username, password, database, isEncrypted } = servers;
  const access: RedisOptions = {
    ...own,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(isEncrypted && { tls: {} }),
  };
  if (servers.kind === 'cluster') return openCluster(servers, access, options);
  return new Redis({
    ...access,
    sentinels: [...servers.addresses],
    name: servers.master,
    db: database,
    enableTLSForSentinelMode: isEncrypted,
    sentinelCommandTimeout: SENTINEL_MS,
    ...(servers.sentinelPassword !== undefined && { sentinelPassword: servers.sentinelPassword }),
  });
}

export function isRedisClient(client: object | undefined): client is RedisClient {
  return client instanceof Redis || client instanceof Cluster;
}

/** A further connection to the same servers. */
export function duplicateRedis(client: RedisClient, options: ClientOptions): RedisClient {
  if (client instanceof Redis) return client.duplicate(options);
  const { redisOptions, ...own } = client.options;
  return client.duplicate([], { ...own, ...clusterOptions({ ...redisOptions, ...options }, options) });
}

/** How `CLIENT LIST` shows a connection; a name may not have spaces. */
export function redisName(processName: string, use: string): string {
  return `${processName.replaceAll(' ', '-')}:${use}`;
}

/** Keys that one command or script uses, or a queue, have one hash slot in a cluster. */
export function inOneSlot(client: object | null, prefix: string): string {
  return client instanceof Cluster ? `{${prefix}}` : prefix;
}

function openCluster({ addresses }: RedisServers, access: RedisOptions, options: ClientOptions): Cluster {
  const { retryStrategy } = options;
  return new Cluster([...addresses], {
    ...clusterOptions(access, options),
    ...(retryStrategy && { clusterRetryStrategy: retryStrategy }),
  });
}

function clusterOptions(
  { lazyConnect, enableOfflineQueue, scripts, retryStrategy: _each, ...redisOptions }: RedisOptions,
  { maxRetriesPerRequest }: ClientOptions,
): ClusterOptions {
  const { commandTimeout } = redisOptions;
  return {
    // A node that does not answer ends, with all that waits for it. Not for a single server: there the client's timer outlives the
    // connection, and ends the next one.
    redisOptions: {
      ...redisOptions,
      socketTimeout: commandTimeout === undefined ? SILENT_NODE_MS : 2 * commandTimeout,
    },
    ...(lazyConnect !== undefined && { lazyConnect }),
    ...(enableOfflineQueue !== undefined && { enableOfflineQueue }),
    ...(scripts && { scripts }),
    ...(maxRetriesPerRequest === 0 && { maxRedirections: ATTEMPTS_IN_CLUSTER }),
    // Certificates hold names, not the addresses to which the client would resolve them.
    ...(redisOptions.tls && {
      dnsLookup: (host, done) => {
        done(null, host);
      },
    }),
  };
}
