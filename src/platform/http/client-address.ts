import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address with a port, which some proxies add, or in brackets. */
const WITH_PORT = /^(?:\[(.+)\]|([\d.]+))(?::\d+)?$/;

type RequestParts = Pick<IncomingMessage, 'headers'> & {
  readonly socket: { readonly remoteAddress?: string | undefined };
};

/**
 * Returns a function that finds the client address of a request: the peer's address or, if that is a trusted proxy, the last address
 * in `X-Forwarded-For` that is not a trusted proxy. It ignores entries further to the left, which the client may have written, and
 * stops at an entry that is not an address.
 * @param networks the trusted proxies, as CIDR
 */
export function clientAddresses(networks: readonly string[]): (request: RequestParts) => string {
  const proxies = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    proxies.addSubnet(address, Number(bits), familyOf(address));
  }
  return ({ headers, socket }) => {
    let address = plain(socket.remoteAddress ?? '');
    const hops = [headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    for (let hop = hops.pop(); hop !== undefined && isIP(address) !== 0; hop = hops.pop()) {
      if (!proxies.check(address, familyOf(address))) break;
      const [, ipv6, ipv4] = WITH_PORT.exec(hop.trim()) ?? [];
      const named = plain(ipv6 ?? ipv4 ?? hop.trim());
      if (isIP(named) === 0) break;
      address = named;
    }
    return address;
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** Removes the zone of a link-local address, and converts an IPv4-mapped IPv6 address to IPv4. */
function plain(address: string): string {
  const [unscoped = ''] = address.split('%');
  return isIP(unscoped) === 6 ? ipaddr.process(unscoped).toString() : unscoped;
}
