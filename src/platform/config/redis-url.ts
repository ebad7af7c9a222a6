export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** What a `REDIS_URL` with more than one address names. */
export interface RedisServers {
  readonly kind: 'sentinel' | 'cluster';
  readonly isEncrypted: boolean;
  /** Of the sentinels, or of some nodes of the cluster. */
  readonly addresses: readonly RedisAddress[];
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** What the sentinels call the master; empty for a cluster. */
  readonly master: string;
  readonly database: number;
  readonly sentinelPassword: string | undefined;
}

const SEVERAL = /^redis(s?)\+(sentinel|cluster):\/\/(?:([^@/?]*)@)?([^/?]+)(?:\/([^/?]*))?(?:\/(\d*))?(?:\?(.*))?$/;
const PORTS = { sentinel: 26_379, cluster: 6_379 };

/** The kinds of `REDIS_URL`, for the line that refuses another. */
export const REDIS_URL_KINDS =
  'must be a redis:// URL with the number of a database or none, redis+sentinel://host:26379,host:26379/<master>/<database> or redis+cluster://host:6379,host:6379 (rediss for TLS)';

/** @param url without a `%` that begins no character */
export function isRedisUrl(url: string): boolean {
  const single = URL.parse(url);
  if (!single || !/^rediss?:$/.test(single.protocol)) return redisServers(url) !== undefined;
  return /^(\/\d*)?$/.test(single.pathname);
}

/** Undefined for the URL of a single server. Not `URL`, which knows no list of hosts. */
export function redisServers(url: string): RedisServers | undefined {
  const [, secure, kind, user = '', hosts = '', master = '', database, query] = SEVERAL.exec(url) ?? [];
  if (kind !== 'sentinel' && kind !== 'cluster') return undefined;
  // A cluster has one database, and no master that would have a name.
  if (kind === 'sentinel' ? master === '' : master !== '') return undefined;
  const addresses = hosts.split(',').map((host) => addressOf(host, PORTS[kind]));
  if (!addresses.every((address) => address !== undefined)) return undefined;
  const [username = '', ...password] = user.split(':').map((part) => decodeURIComponent(part));
  return {
    kind,
    isEncrypted: secure === 's',
    addresses,
    username: username === '' ? undefined : username,
    password: password.length === 0 ? undefined : password.join(':'),
    master: decodeURIComponent(master),
    database: Number(database ?? 0),
    sentinelPassword: new URLSearchParams(query).get('sentinelPassword') ?? undefined,
  };
}

function addressOf(text: string, port: number): RedisAddress | undefined {
  const url = URL.parse(`redis://${text}`);
  if (!url || url.hostname === '') return undefined;
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(url.port || port) };
}
