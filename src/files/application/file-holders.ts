import { Injectable } from '@nestjs/common';

/** A context whose data refers to uploads. */
export interface FileHolder {
  /** The given files that this context's data refers to. Those are kept, however long ago they were used. */
  holds(fileIds: readonly string[]): Promise<readonly string[]>;
}

/** The holders of all contexts; each registers itself in its constructor. */
@Injectable()
export class FileHolders {
  private readonly holders: FileHolder[] = [];

  register(holder: FileHolder): void {
    this.holders.push(holder);
  }

  async unreferenced(fileIds: readonly string[]): Promise<readonly string[]> {
    let unheld = fileIds;
    for (const holder of this.holders) {
      if (unheld.length === 0) break;
      const held = new Set(await holder.holds(unheld));
      unheld = unheld.filter((id) => !held.has(id));
    }
    return unheld;
  }
}
