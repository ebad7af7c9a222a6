import { Injectable } from '@nestjs/common';

/** A context whose data refers to uploads. */
export interface FileHolder {
  /** Those of the files that something still refers to; they are not removed, however long nobody used them. */
  holds(fileIds: readonly string[]): Promise<readonly string[]>;
}

/** The holders of all contexts; each registers itself in `onModuleInit`. */
@Injectable()
export class FileHolders {
  private readonly holders: FileHolder[] = [];

  register(holder: FileHolder): void {
    this.holders.push(holder);
  }

  /** Those of the files that nobody holds. */
  async unreferenced(fileIds: readonly string[]): Promise<readonly string[]> {
    let left = fileIds;
    for (const holder of this.holders) {
      if (left.length === 0) break;
      const held = new Set(await holder.holds(left));
      left = left.filter((id) => !held.has(id));
    }
    return left;
  }
}
