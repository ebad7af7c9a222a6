import { newId } from '../../../platform/ids/index.js';

/** Makes the call ids of one response unique: of two calls with the same id only one would get a result. */
export class UniqueIds {
  private readonly taken = new Set<string>();

  take(id: string): string {
    const unique = this.taken.has(id) ? newId() : id;
    this.taken.add(unique);
    return unique;
  }
}
