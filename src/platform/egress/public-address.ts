import ipaddr from 'ipaddr.js';

/** The address of a cloud's internal services; in the registry it is an ordinary one. */
const CLOUD_SERVICES = '168.63.129.16';

/** The range of global unicast, without NAT64, unique local, link local, mapped and compatible addresses. */
const GLOBAL_UNICAST_IPV6 = ipaddr.IPv6.parse('2000::');
const GLOBAL_UNICAST_BITS = 3;

/** ISATAP: with any prefix, an interface identifier that begins like this ends with an IPv4 address. */
const ISATAP = [0x0000_5efe, 0x0200_5efe];

/**
 * Whether packets to `address`, an IP literal, go to a host on the public internet: it is in none of the ranges of the
 * IANA special-purpose registries, of which those of 6to4 and Teredo embed an IPv4 address. False for other texts.
 */
export function isPublicAddress(address: string): boolean {
  // A zone names an interface of this machine.
  if (address.includes('%') || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv4) return parsed.toString() !== CLOUD_SERVICES;
  return parsed.match(GLOBAL_UNICAST_IPV6, GLOBAL_UNICAST_BITS) && !isIsatap(parsed);
}

function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return ISATAP.includes((parts[4] ?? 0) * 0x1_0000 + (parts[5] ?? 0));
}
