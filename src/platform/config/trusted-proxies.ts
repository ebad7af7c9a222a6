import ipaddr from 'ipaddr.js';
import { z } from 'zod';

/** The names of groups of networks in `TRUST_PROXY`. */
const NAMED_NETWORKS = new Map<string, readonly string[]>([
  ['loopback', ['127.0.0.0/8', '::1/128']],
  // RFC 1918 and RFC 4193.
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
]);

/** @returns networks as `address/bits`; undefined for a malformed entry */
function networksOf(entry: string): readonly string[] | undefined {
  const named = NAMED_NETWORKS.get(entry);
  if (named) return named;
  const [address = '', bits, ...rest] = entry.split('/');
  const isIpv4 = ipaddr.IPv4.isValidFourPartDecimal(address);
  if (rest.length > 0 || (!isIpv4 && (!ipaddr.IPv6.isValid(address) || address.includes('%')))) return undefined;
  const mostBits = isIpv4 ? 32 : 128;
  const length = bits === undefined ? mostBits : /^\d{1,3}$/.test(bits) ? Number(bits) : 0;
  // With 0 bits every client would count as a proxy, and could choose its own address.
  return length >= 1 && length <= mostBits ? [`${address}/${length}`] : undefined;
}

/** The networks whose hosts are proxies, as CIDR. */
export const trustedProxies = z
  .string()
  .transform((list) => list.split(',').map((entry) => networksOf(entry.trim())))
  .refine((networks): networks is (readonly string[])[] => !networks.includes(undefined), {
    message:
      'must be a comma-separated list of IP addresses, networks of at least one bit (10.0.0.0/8, fd00::/8), `loopback` and `private`',
  })
  .transform((networks) => networks.flat());
