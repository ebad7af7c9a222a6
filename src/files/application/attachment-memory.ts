import { Injectable } from '@nestjs/common';
import { AttachmentMemoryFull } from '../domain/files.errors.js';
import { ATTACHMENT_MEMORY_BYTES } from '../limits.js';

/**
 * Limits the memory that attachments take in this process. A run holds its files until its last model call, so without a limit a
 * few dozen runs with large files would exhaust the memory of the process.
 */
@Injectable()
export class AttachmentMemory {
  private taken = 0;

  /** The memory that is reserved at present. */
  get bytes(): number {
    return this.taken;
  }

  /** @returns an empty reservation for one run */
  reserve(): MemoryReservation {
    return new MemoryReservation((bytes) => this.take(bytes));
  }

  private take(bytes: number): boolean {
    if (bytes > 0 && this.taken + bytes > ATTACHMENT_MEMORY_BYTES) return false;
    this.taken += bytes;
    return true;
  }
}

/** The memory that one run has reserved. */
export class MemoryReservation {
  private held = 0;
  private released = false;

  constructor(private readonly take: (bytes: number) => boolean) {}

  /** @returns false, reserving nothing, when the limit is reached or the reservation has been released */
  add(bytes: number): boolean {
    if (this.released || !this.take(bytes)) return false;
    this.held += bytes;
    return true;
  }

  /** As `add`. @throws AttachmentMemoryFull where `add` returns false */
  demand(bytes: number): void {
    if (!this.add(bytes)) throw new AttachmentMemoryFull();
  }

  giveBack(bytes: number): void {
    this.shrinkTo(Math.max(0, this.held - bytes));
  }

  shrinkTo(bytes: number): void {
    if (bytes >= this.held) return;
    this.take(bytes - this.held);
    this.held = bytes;
  }

  /** Gives everything back. Later calls of `add` return false. */
  release(): void {
    this.shrinkTo(0);
    this.released = true;
  }
}

/**
 * The memory for a file of this size: its base64, and as much again, first for the bytes of the file and later for the request to
 * the model that contains the base64.
 */
export function memoryOf(size: number): number {
  return 2 * 4 * Math.ceil(size / 3);
}

/** Includes the URL, which the request's body holds until the response. */
export function memoryOfDataUrl({ length }: string): number {
  return length + memoryOf((length / 4) * 3);
}
