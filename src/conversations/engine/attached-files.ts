import type { MemoryReservation } from '../../files/index.js';
import type { ModelAttachment } from '../../models/index.js';

/** A file as the model gets it, or the note that stands for it. */
export type AttachedFile = ModelAttachment | string;

/**
 * The files of a run's message, and the memory for all files that the run holds. Whoever takes part in a run keeps
 * its context to the end, and only this object of theirs: what it holds is gone when it is taken.
 */
export class AttachedFiles {
  private files: readonly AttachedFile[];

  constructor(
    files: readonly AttachedFile[],
    readonly memory: MemoryReservation,
  ) {
    this.files = files;
  }

  /** Those of the message; none the second time. */
  take(): readonly AttachedFile[] {
    const { files } = this;
    this.files = [];
    return files;
  }

  /** Once no model is called any more, or the run never began. */
  release(): void {
    this.files = [];
    this.memory.release();
  }
}
