import { newId } from '../../../platform/ids/index.js';

/** Makes the ids of one answer's calls unique: with the same id, only one of two calls would get its result. */
export class UniqueIds {
  private readonly taken = new Set<string>();

  take(id: string): string {
    const unique = this.taken.has(id) ? newId() : id;
    this.taken.add(unique);
    return unique;
  }
}
