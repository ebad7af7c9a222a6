import { describe, expect, it } from '@jest/globals';
import { AttachmentMemoryFull } from '../domain/files.errors.js';
import { ATTACHMENT_MEMORY_BYTES } from '../limits.js';
import { AttachmentMemory } from './attachment-memory.js';

describe('the memory for attachments', () => {
  it('can be reserved up to the limit', () => {
    const memory = new AttachmentMemory();
    const [one, other] = [memory.reserve(), memory.reserve()];
    expect(one.add(ATTACHMENT_MEMORY_BYTES - 10)).toBe(true);
    expect(other.add(11)).toBe(false);
    expect(() => {
      other.demand(11);
    }).toThrow(AttachmentMemoryFull);
    expect(other.add(10)).toBe(true);
    expect(memory.bytes).toBe(ATTACHMENT_MEMORY_BYTES);
  });

  it('is given back in part, and as a whole only once', () => {
    const memory = new AttachmentMemory();
    const [one, other] = [memory.reserve(), memory.reserve()];
    one.demand(100);
    other.demand(5);
    one.shrinkTo(200);
    expect(memory.bytes).toBe(105);
    one.shrinkTo(40);
    expect(memory.bytes).toBe(45);
    one.release();
    one.release();
    expect(memory.bytes).toBe(5);
  });

  it('is not given to a released reservation', () => {
    const memory = new AttachmentMemory();
    const reservation = memory.reserve();
    reservation.release();
    expect(reservation.add(1)).toBe(false);
    expect(memory.bytes).toBe(0);
  });
});
