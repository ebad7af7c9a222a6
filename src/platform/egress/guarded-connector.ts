import { once } from 'node:events';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { buildConnector } from 'undici';
import { type Clock, untilAborted } from '../clock/index.js';
import { EgressFailed, EgressRefused } from './egress.errors.js';
import type { NameResolver } from './name-resolver.js';
import { isPublicAddress } from './public-address.js';
import { type Exemptions, hostOf, isExempt, portOf } from './target.js';
import { CONNECT_MS, MAX_ADDRESSES } from './limits.js';

export type Dial = (address: string, port: number) => Socket;

export interface ConnectorOptions {
  readonly exemptions: Exemptions;
  readonly resolver: NameResolver;
  readonly clock: Clock;
  readonly dial?: Dial;
  readonly tls?: Pick<ConnectionOptions, 'ca'>;
}

/**
 * Opens every connection of the safe client. The check is here, and not in a `lookup` function, which is not called for IP literals.
 * It connects to the checked addresses, so that a name server cannot return others for the connection.
 */
export function guardedConnector(options: ConnectorOptions): buildConnector.connector {
  const connector = new GuardedConnector(options);
  return (target, callback) => {
    connector.open(target).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error as Error, null),
    );
  };
}

class GuardedConnector {
  constructor(private readonly options: ConnectorOptions) {}

  async open(target: buildConnector.Options): Promise<Socket> {
    const deadline = new AbortController();
    const cancel = this.options.clock.after(CONNECT_MS, () => {
      deadline.abort(new EgressFailed('timeout', { detail: 'connecting' }));
    });
    try {
      const addresses = await this.checkedAddresses(target, deadline.signal);
      const socket = await this.reach(addresses, portOf(target), deadline.signal);
      socket.setNoDelay(true).setKeepAlive(true, 60_000);
      return target.protocol === 'https:' ? await this.secure(socket, target, deadline.signal) : socket;
    } finally {
      cancel();
    }
  }

  private async checkedAddresses(target: buildConnector.Options, signal: AbortSignal): Promise<readonly string[]> {
    const host = hostOf(target.hostname);
    const exempt = isExempt(target, this.options.exemptions);
    const addresses = await this.addressesOf(host, exempt, signal);
    const refused = exempt ? undefined : addresses.find((address) => !isPublicAddress(address));
    if (addresses.length === 0 || refused !== undefined) {
      throw new EgressRefused('address', { detail: `${host} is ${refused ?? 'nowhere'}` });
    }
    return addresses.slice(0, MAX_ADDRESSES);
  }

  private async addressesOf(host: string, exempt: boolean, signal: AbortSignal): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host];
    const { resolver } = this.options;
    try {
      const answer = exempt ? resolver.resolveOwn(host) : resolver.resolvePublic(host);
      return ipv4First(await untilAborted(answer, signal));
    } catch (error) {
      signal.throwIfAborted();
      throw new EgressRefused('address', { detail: `${host} does not resolve`, cause: error });
    }
  }

  /** Tries one address after the other; throws the failure of the last one. */
  private async reach(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
    let failure: unknown;
    for (const address of addresses) {
      const socket = (this.options.dial ?? dialTcp)(address, port);
      try {
        await established(socket, 'connect', signal);
        return socket;
      } catch (error) {
        signal.throwIfAborted();
        failure = error;
      }
    }
    throw new EgressFailed('connect', { cause: failure });
  }

  private async secure(socket: Socket, { hostname }: buildConnector.Options, signal: AbortSignal): Promise<Socket> {
    const host = hostOf(hostname);
    const secured = connectTls({
      ...this.options.tls,
      socket,
      host,
      ...(isIP(host) === 0 && { servername: host }),
      ALPNProtocols: ['http/1.1'],
    });
    try {
      await established(secured, 'secureConnect', signal);
      return secured;
    } catch (error) {
      socket.destroy();
      signal.throwIfAborted();
      throw new EgressFailed('connect', { detail: 'TLS', cause: error });
    }
  }
}

function dialTcp(address: string, port: number): Socket {
  return connectTcp({
    host: address,
    port,
    lookup: (name) => {
      throw new Error(`A connection was about to look up ${name}`);
    },
  });
}

async function established(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  try {
    await once(socket, event, { signal });
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw error;
  }
}

/** Many machines have IPv6 addresses without a route; trying those first would delay every request. */
function ipv4First(addresses: readonly string[]): readonly string[] {
  return [...addresses].sort((a, b) => isIP(a) - isIP(b));
}
