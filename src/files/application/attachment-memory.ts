import { Injectable } from '@nestjs/common';
import { AttachmentMemoryFull } from '../domain/files.errors.js';
import { ATTACHMENT_MEMORY_BYTES } from '../limits.js';

/** Limits the memory for attachments in this process: a run holds its files until its last model call. */
@Injectable()
export class AttachmentMemory {
  private taken = 0;

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

/** The memory for the base64 of a file, and as much again, first for its bytes and later for the model request. */
export function memoryOf(size: number): number {
  return 2 * 4 * Math.ceil(size / 3);
}

/** Includes the URL, which the request's body holds until the response. */
export function memoryOfDataUrl({ length }: string): number {
  return length + memoryOf((length / 4) * 3);
}
