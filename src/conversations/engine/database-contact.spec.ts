import { describe, expect, it } from '@jest/globals';
import { DatabaseContact } from './database-contact.js';

const SECOND = 1_000;

/** A contact whose heartbeats come every five seconds, up to and including `until`, with the id `first`. */
function beating(until: number): DatabaseContact {
  const contact = new DatabaseContact();
  contact.heard(0, 'first');
  for (let seconds = 5; seconds <= until; seconds += 5) contact.heard(seconds * SECOND, 'first');
  return contact;
}

describe('the contact with the database', () => {
  it('has not lasted before the first heartbeat', () => {
    expect(new DatabaseContact().lasted(60 * SECOND, 0)).toBe(false);
  });

  it('lasts since the first heartbeat with the same id', () => {
    const contact = beating(20);
    expect(contact.lasted(20 * SECOND - 1, 20)).toBe(false);
    expect(contact.lasted(20 * SECOND, 20)).toBe(true);
  });

  it('starts again when the database changes its id', () => {
    const contact = beating(60);
    contact.heard(65 * SECOND, 'second');
    expect(contact.id).toBe('second');
    expect(contact.lasted(65 * SECOND, 20)).toBe(false);
    contact.heard(85 * SECOND, 'second');
    expect(contact.lasted(85 * SECOND, 20)).toBe(true);
  });

  it('starts again with the heartbeat after a failed one', () => {
    const contact = beating(60);
    contact.lost();
    expect(contact.id).toBeNull();
    expect(contact.lasted(60 * SECOND, 0)).toBe(false);
    contact.heard(65 * SECOND, 'first');
    expect(contact.lasted(84 * SECOND, 20)).toBe(false);
  });
});
