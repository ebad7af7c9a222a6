import { once } from 'node:events';
import { createServer } from 'node:net';
import { InvalidSetting, type Settings } from '../config/index.js';

/** The address is another machine's, of a family that this machine lacks, or of no interface. */
const NOT_LOCAL = new Set<string | undefined>(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL']);

interface Address {
  readonly host: string;
  readonly port: number;
  /** The setting that `port` comes from. */
  readonly setting?: 'PORT' | 'METRICS_PORT';
}

/** The addresses on which a process with these settings listens. @throws InvalidSetting when two have one port */
export function listenAddresses({ role, host, port, metricsPort }: Settings): readonly Address[] {
  if (role !== 'worker' && metricsPort === port && port !== 0)
    throw new InvalidSetting('METRICS_PORT: must be another port than PORT');
  return [
    ...(role === 'worker' ? [] : [{ host, port }]),
    ...(metricsPort === undefined ? [] : [{ host, port: metricsPort, setting: 'METRICS_PORT' as const }]),
  ];
}

/**
 * Checks that the service can listen on the address of its settings, before the start changes anything.
 * @throws InvalidSetting naming the wrong setting
 */
export async function checkListenAddress(address: Address): Promise<void> {
  const server = createServer();
  try {
    server.listen(address.port, address.host);
    await once(server, 'listening');
  } catch (error) {
    throw listenFailure(error, address);
  }
  server.close();
  await once(server, 'close');
}

/** The error to throw when listening has failed: `InvalidSetting` if a setting is the reason. */
export function listenFailure(error: unknown, address: Address): unknown {
  const message = explain(error, address);
  return message === undefined ? error : new InvalidSetting(message, { cause: error });
}

function explain(error: unknown, { host, port, setting = 'PORT' }: Address): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === 'getaddrinfo') return `HOST: ${host} cannot be resolved to an address`;
  if (code === 'EADDRINUSE')
    return `${setting}: ${port} is in use on ${host}; stop what listens there, or choose another port`;
  if (code === 'EACCES') return `${setting}: this process may not listen on ${port}; choose a port from 1024 on`;
  if (NOT_LOCAL.has(code)) return `HOST: ${host} is not an address of this machine`;
  return undefined;
}
