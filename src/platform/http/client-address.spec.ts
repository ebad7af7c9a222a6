import { describe, expect, it } from '@jest/globals';
import { clientAddresses } from './client-address.js';

const addressOf = clientAddresses(['127.0.0.0/8', '10.0.0.0/8', 'fd00::/8', '::1/128']);

const address = (remoteAddress: string | undefined, forwardedFor?: string): string =>
  addressOf({
    headers: forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor },
    socket: { remoteAddress },
  });

describe('the address of a client', () => {
  it.each([
    ['is the peer, without the header', '10.0.0.1', undefined, '10.0.0.1'],
    ['is the peer where no trusted proxy is', '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['is what a trusted proxy names', '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['is not what the client wrote before that', '10.0.0.1', '192.0.2.66, 127.0.0.1, 198.51.100.1', '198.51.100.1'],
    ['is behind several trusted proxies', '10.0.0.1', '192.0.2.66,198.51.100.1, fd00::7 ,10.9.9.9', '198.51.100.1'],
    ['is the farthest proxy where all are trusted', '127.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['may be IPv6', '::1', '2001:db8::5', '2001:db8::5'],
    ['is read without brackets and port', '::1', '[2001:db8::5]:4711', '2001:db8::5'],
    ['is read without the port of IPv4', '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['is IPv4 though mapped into IPv6', '::ffff:10.0.0.1', '::ffff:198.51.100.1', '198.51.100.1'],
    ['is the last good hop before garbage', '10.0.0.1', '198.51.100.1, garbage, 10.0.0.2', '10.0.0.2'],
    ['is the peer where a proxy names nothing', '10.0.0.1', '', '10.0.0.1'],
    ['is the peer where a proxy names an odd spelling', '10.0.0.1', '0x7f.1', '10.0.0.1'],
    ['has no zone', 'fe80::1%eth0', '198.51.100.1', 'fe80::1'],
    ['is nothing once the connection is gone', undefined, '198.51.100.1', ''],
  ])('%s', (_what, peer, forwardedFor, expected) => {
    expect(address(peer, forwardedFor)).toBe(expected);
  });

  it('is the peer, whatever the headers, unless a proxy is trusted', () => {
    expect(
      clientAddresses([])({ headers: { 'x-forwarded-for': '198.51.100.1' }, socket: { remoteAddress: '127.0.0.1' } }),
    ).toBe('127.0.0.1');
  });
});
