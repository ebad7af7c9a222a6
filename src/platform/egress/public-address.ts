import ipaddr from 'ipaddr.js';

type Range = readonly [string, number];

/** The IANA special-purpose registry of IPv4, multicast, and the address of a cloud's own host services. */
const SPECIAL_IPV4: readonly Range[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.31.196.0', 24],
  ['192.52.193.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['192.175.48.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Where global unicast is allocated. NAT64, unique local, link local, mapped and compatible addresses are outside. */
const GLOBAL_UNICAST_IPV6: Range = ['2000::', 3];

/** Special-purpose ranges inside it; Teredo is part of the first, 6to4 is the third: both embed an IPv4 address. */
const SPECIAL_IPV6: readonly Range[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['2620:4f:8000::', 48],
  ['3fff::', 20],
];

/** ISATAP: under any prefix, an interface identifier that begins so ends with an IPv4 address. */
const ISATAP = [0x0000_5efe, 0x0200_5efe];

/** Whether packets to `address`, an IP literal, go to a host on the public internet. False for what is no literal. */
export function isPublicAddress(address: string): boolean {
  // A zone names an interface of this machine.
  if (address.includes('%') || !ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  return parsed instanceof ipaddr.IPv4 ? isPublicIpv4(parsed) : isPublicIpv6(parsed);
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return !SPECIAL_IPV4.some(([start, bits]) => address.match(ipaddr.IPv4.parse(start), bits));
}

function isPublicIpv6(address: ipaddr.IPv6): boolean {
  const isWithin = ([start, bits]: Range): boolean => address.match(ipaddr.IPv6.parse(start), bits);
  return isWithin(GLOBAL_UNICAST_IPV6) && !SPECIAL_IPV6.some(isWithin) && !isIsatap(address);
}

function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return ISATAP.includes((parts[4] ?? 0) * 0x1_0000 + (parts[5] ?? 0));
}
