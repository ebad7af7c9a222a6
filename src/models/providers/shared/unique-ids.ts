import { newId } from '../../../platform/ids/index.js';

/** The ids of one answer's calls: of two with one id the later gets one of its own, or only one of them would get its result. */
export class UniqueIds {
  private readonly taken = new Set<string>();

  take(id: string): string {
    const unique = this.taken.has(id) ? newId() : id;
    this.taken.add(unique);
    return unique;
  }
}
