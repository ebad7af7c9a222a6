import { describe, expect, it } from '@jest/globals';
import { Contact } from './contact.js';

const SECOND = 1_000;

/** A contact whose heartbeats come every five seconds, up to and including `until`, and that the database names `first`. */
function beating(until: number): Contact {
  const contact = new Contact();
  contact.heard(0, 'first');
  for (let seconds = 5; seconds <= until; seconds += 5) contact.heard(seconds * SECOND, 'first');
  return contact;
}

describe('the contact with the database', () => {
  it('has not lasted before the first heartbeat', () => {
    expect(new Contact().lasted(60 * SECOND, 0)).toBe(false);
  });

  it('lasts from the first of the heartbeats that follow one another', () => {
    const contact = beating(20);
    expect(contact.lasted(20 * SECOND - 1, 20)).toBe(false);
    expect(contact.lasted(20 * SECOND, 20)).toBe(true);
  });

  it('begins anew when the database gives it another name', () => {
    const contact = beating(60);
    contact.heard(65 * SECOND, 'second');
    expect(contact.id).toBe('second');
    expect(contact.lasted(65 * SECOND, 20)).toBe(false);
    contact.heard(85 * SECOND, 'second');
    expect(contact.lasted(85 * SECOND, 20)).toBe(true);
  });

  it('begins anew with the heartbeat after one that failed', () => {
    const contact = beating(60);
    contact.lost();
    expect(contact.id).toBeNull();
    expect(contact.lasted(60 * SECOND, 0)).toBe(false);
    contact.heard(65 * SECOND, 'first');
    expect(contact.lasted(84 * SECOND, 20)).toBe(false);
  });
});
