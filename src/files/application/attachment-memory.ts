import { Injectable } from '@nestjs/common';
import { AttachmentMemoryFull } from '../domain/files.errors.js';
import { ATTACHMENT_MEMORY_BYTES } from '../limits.js';

/**
 * The memory that attachments may take in this process at once. A run holds its files from before they are read to
 * its last model call: without a bound, some dozens of runs with large files would end the process and all others with it.
 */
@Injectable()
export class AttachmentMemory {
  private taken = 0;

  /** Reserved at the moment. */
  get bytes(): number {
    return this.taken;
  }

  /** For one run; of nothing at first. */
  reserve(): MemoryReservation {
    return new MemoryReservation((bytes) => this.take(bytes));
  }

  private take(bytes: number): boolean {
    if (bytes > 0 && this.taken + bytes > ATTACHMENT_MEMORY_BYTES) return false;
    this.taken += bytes;
    return true;
  }
}

/** What one run has of the memory. */
export class MemoryReservation {
  private held = 0;
  private released = false;

  constructor(private readonly take: (bytes: number) => boolean) {}

  /** @returns false where there is no room, or the run is over: then nothing is reserved */
  add(bytes: number): boolean {
    if (this.released || !this.take(bytes)) return false;
    this.held += bytes;
    return true;
  }

  /** @throws AttachmentMemoryFull where there is no room; nothing is reserved then */
  demand(bytes: number): void {
    if (!this.add(bytes)) throw new AttachmentMemoryFull();
  }

  /** Gives so many bytes back. */
  giveBack(bytes: number): void {
    this.shrinkTo(Math.max(0, this.held - bytes));
  }

  /** Gives back what is not needed any longer. */
  shrinkTo(bytes: number): void {
    if (bytes >= this.held) return;
    this.take(bytes - this.held);
    this.held = bytes;
  }

  /** Gives back everything, for good. */
  release(): void {
    this.shrinkTo(0);
    this.released = true;
  }
}

/**
 * What a file of this size takes: its base64, and beside it, first, the bytes as they were read and later the
 * request to the model that the base64 is a part of.
 */
export function memoryOf(size: number): number {
  return 2 * 4 * Math.ceil(size / 3);
}

/** The URL itself stays in the request's body until that is answered. */
export function memoryOfDataUrl({ length }: string): number {
  return length + memoryOf((length / 4) * 3);
}
