import type { MemoryReservation } from '../../files/index.js';
import type { ModelAttachment } from '../../models/index.js';

/** A file for the model, or a note that replaces it. */
export type AttachedFile = ModelAttachment | string;

/**
 * The files of a run's message, and the memory reserved for all files of the run. Extensions may hold the run's context
 * until its end; `take` empties this object, so that the context does not hold the files.
 */
export class AttachedFiles {
  private files: readonly AttachedFile[];

  constructor(
    files: readonly AttachedFile[],
    readonly memory: MemoryReservation,
  ) {
    this.files = files;
  }

  /** Empty after the first call. */
  take(): readonly AttachedFile[] {
    const { files } = this;
    this.files = [];
    return files;
  }

  /** Call after the last request to the model, or when no run starts. */
  release(): void {
    this.files = [];
    this.memory.release();
  }
}
