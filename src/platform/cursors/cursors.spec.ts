import { describe, expect, it } from '@jest/globals';
import { MasterKey, MasterKeys } from '../vault/index.js';
import { Cursors } from './cursors.js';

const cursors = new Cursors(MasterKeys.of(new MasterKey(Buffer.alloc(32, 1))));
const scope = { list: 'threads', organizationId: 'o1' };

describe('a cursor', () => {
  it('gives back the position it was issued for', () => {
    expect(cursors.read(scope, cursors.issue(scope, ['2026-01-01', 'id']))).toEqual(['2026-01-01', 'id']);
  });

  it.each([
    ['another list', { ...scope, list: 'runs' }],
    ['another organization', { ...scope, organizationId: 'o2' }],
  ])('is refused on %s', (_what, other) => {
    expect(() => cursors.read(other, cursors.issue(scope, ['x']))).toThrow('querystring/cursor');
  });

  it.each(['', '.', 'x', 'x.y', Buffer.from('["a"]').toString('base64url')])(
    'that was made up (%p) is refused',
    (forged) => {
      expect(() => cursors.read(scope, forged)).toThrow('querystring/cursor');
    },
  );

  it('is refused when any part of it was changed', () => {
    const [payload = '', signature = ''] = cursors.issue(scope, ['2026']).split('.');
    const other = Buffer.from('["2027"]').toString('base64url');

    expect(() => cursors.read(scope, `${other}.${signature}`)).toThrow();
    expect(() => cursors.read(scope, `${payload}.${signature.slice(1)}`)).toThrow();
  });

  it('is taken as long as the key that signed it is known, and signed by the current one', () => {
    const [old, current] = [new MasterKey(Buffer.alloc(32, 3)), new MasterKey(Buffer.alloc(32, 4))];
    const rotating = new Cursors(MasterKeys.of(current, old));

    expect(rotating.read(scope, new Cursors(MasterKeys.of(old)).issue(scope, ['x']))).toEqual(['x']);
    expect(new Cursors(MasterKeys.of(current)).read(scope, rotating.issue(scope, ['y']))).toEqual(['y']);
  });

  it('is refused by a service with another master key', () => {
    const foreign = new Cursors(MasterKeys.of(new MasterKey(Buffer.alloc(32, 2))));

    expect(() => foreign.read(scope, cursors.issue(scope, ['x']))).toThrow();
  });
});
