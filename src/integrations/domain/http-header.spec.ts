import { describe, expect, it } from '@jest/globals';
import { repeatedHeader } from '../../platform/egress/index.js';
import { authFault, headerNameFault, isHeaderValue } from './http-header.js';

describe('the name of a header', () => {
  it.each(['X-Key', 'authorization', "!#$%&'*+-.^_`|~", '9', 'x'.repeat(255), 'proxy', 'hosts'])(
    'may be %s',
    (name) => {
      expect(headerNameFault(name)).toBeUndefined();
    },
  );

  it.each(['', 'x y', 'x:', 'ü', 'x\n', '(x)', 'x'.repeat(256), 'HOST', 'Te', 'proxy-', 'Proxy-Connection'])(
    'may not be %j',
    (name) => {
      expect(headerNameFault(name)).toMatch(/\w/);
    },
  );

  it.each([
    ...[
      'Host',
      'Content-Length',
      'Connection',
      'Keep-Alive',
      'Transfer-Encoding',
      'TE',
      'Trailer',
      'Upgrade',
      'Expect',
    ],
    ...['Accept-Encoding', 'Http2-Settings', 'Proxy-Authorization', 'Content-Type', 'Accept', 'Last-Event-Id'],
    ...['Mcp-Session-Id', 'Mcp-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'Mcp-Param-Region'],
  ])('may not be %s, which the client sets itself', (name) => {
    for (const spelling of [name, name.toUpperCase()])
      expect(headerNameFault(spelling)).toBe('is a header that cannot be set');
  });

  it('may appear once, in any case', () => {
    expect(repeatedHeader(['a', 'b', 'A'])).toBe('A');
    expect(repeatedHeader(['a', 'b', 'ab'])).toBeUndefined();
  });
});

describe('the value of a header', () => {
  it.each(['x', 'a b', 'a\tb', '\u00fc\u00ff', 'x'.repeat(8_192)])('may be %j', (value) => {
    expect(isHeaderValue(value)).toBe(true);
  });

  it.each([
    '',
    ' ',
    ' x',
    'x ',
    '\tx',
    'a\rb',
    'a\nb',
    'x\n',
    'a\u0000b',
    'a\u007fb',
    '\u0085',
    '\u0100',
    '\u{1f600}',
    'x'.repeat(8_193),
    7,
    null,
  ])('may not be %j', (value) => {
    expect(isHeaderValue(value)).toBe(false);
  });

  it('is validated in time proportional to its length', () => {
    expect(isHeaderValue(`${'x '.repeat(4_095)}\n`)).toBe(false);
  });
});

describe('authentication', () => {
  it('must name an existing header, or excludes the authorization header', () => {
    expect(authFault({ type: 'static', headerKey: 'x-key' }, ['X-Key'])).toBeUndefined();
    expect(authFault({ type: 'static', headerKey: 'X-Other' }, ['X-Key'])).toMatch(/^auth\/headerKey /);
    expect(authFault({ type: 'oauth' }, ['Authorization'])).toMatch(/^httpHeaders\/Authorization /);
    expect(authFault({ type: 'oauth' }, ['X-Key'])).toBeUndefined();
    expect(authFault({ type: 'none' }, ['Authorization'])).toBeUndefined();
  });
});
