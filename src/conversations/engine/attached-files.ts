import type { MemoryReservation } from '../../files/index.js';
import type { ModelAttachment } from '../../models/index.js';

/** A file as the model gets it, or the note that stands for it. */
export type AttachedFile = ModelAttachment | string;

/**
 * The files of a run's message, and the memory that is reserved for all files of the run. Extensions may keep the run's
 * context to its end; this object gives the files out once, so that they are not kept with it.
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
