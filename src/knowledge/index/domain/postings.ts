import type { Occurrence } from './chunk-terms.js';

/**
 * Chunks of a partition are numbered in the order in which they are added; this many make a block. Each term has one row per block. For
 * each chunk with the term, the row has two bytes with the chunk's slot in the block, one byte with the number of positions and the bit
 * `NAMED`, and the differences between the positions, seven bits a byte. New chunks are appended.
 */
export const BLOCK_SIZE = 512;
/** The term is in the title or the headings. */
const NAMED = 0x80;

export function encodePosting(slot: number, { isNamed, positions }: Occurrence): number[] {
  const bytes = [slot & 0xff, slot >> 8, positions.length | (isNamed ? NAMED : 0)];
  let before = 0;
  for (const position of positions) {
    let difference = position - before;
    before = position;
    for (; difference >= 0x80; difference >>= 7) bytes.push((difference & 0x7f) | 0x80);
    bytes.push(difference);
  }
  return bytes;
}

/** @param onPosting receives the number of positions, and the offset for `positionsAt` */
export function readPostings(
  bytes: Uint8Array,
  onPosting: (slot: number, count: number, isNamed: boolean, offset: number) => void,
): void {
  for (let at = 0; at < bytes.length;) {
    const slot = byteAt(bytes, at) | (byteAt(bytes, at + 1) << 8);
    const header = byteAt(bytes, at + 2);
    onPosting(slot, header & ~NAMED, (header & NAMED) !== 0, at + 2);
    at += 3;
    for (let left = header & ~NAMED; left > 0; at += 1) if (byteAt(bytes, at) < 0x80) left -= 1;
  }
}

export function positionsAt(bytes: Uint8Array, offset: number): number[] {
  const positions: number[] = [];
  let position = 0;
  let at = offset + 1;
  for (let left = byteAt(bytes, offset) & ~NAMED; left > 0; left -= 1) {
    for (let shift = 0; ; shift += 7) {
      const byte = byteAt(bytes, at);
      at += 1;
      position += (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    positions.push(position);
  }
  return positions;
}

/** The postings without those of chunks that are not kept. */
export function filterPostings(bytes: Uint8Array, isKept: (slot: number) => boolean): Uint8Array {
  const starts: number[] = [];
  const kept: boolean[] = [];
  readPostings(bytes, (slot, _count, _isNamed, offset) => {
    starts.push(offset - 2);
    kept.push(isKept(slot));
  });
  return Buffer.concat(
    starts.flatMap((start, index) =>
      kept[index] === true ? [bytes.subarray(start, starts[index + 1] ?? bytes.length)] : [],
    ),
  );
}

function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

/** The lengths of a block's chunks have two bytes each. 0: the chunk was deleted. With this bit: its document does not show it yet. */
const UNSEEN = 0x8000;
const MAX_LENGTH = 0x7fff;

export function encodeLength(length: number, isVisible: boolean): [number, number] {
  const value = Math.min(length, MAX_LENGTH) | (isVisible ? 0 : UNSEEN);
  return [value & 0xff, value >> 8];
}

/** @returns 0 if the chunk is not visible */
export function visibleLength(lengths: Uint8Array, slot: number): number {
  const value = byteAt(lengths, 2 * slot) | (byteAt(lengths, 2 * slot + 1) << 8);
  return value >= UNSEEN ? 0 : value;
}

export function isDeleted(lengths: Uint8Array, slot: number): boolean {
  return byteAt(lengths, 2 * slot) === 0 && byteAt(lengths, 2 * slot + 1) === 0;
}
