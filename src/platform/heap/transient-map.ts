/**
 * Values by their keys, for values that come and go, such as the runs under way.
 *
 * Not a `Map` or a `Set`: V8 moves the entries of those to a new table again and again, and leaves in the former table a reference to
 * the new one. Once a table got old, it keeps all later ones, each with the values that it had at its end, until V8 collects the
 * whole heap.
 */
export class TransientMap<Value> {
  private readonly entries = Object.create(null) as Record<string, Value | undefined>;
  private count = 0;

  get size(): number {
    return this.count;
  }

  has(key: string): boolean {
    return key in this.entries;
  }

  get(key: string): Value | undefined {
    return this.entries[key];
  }

  set(key: string, value: Value): void {
    if (!this.has(key)) this.count += 1;
    this.entries[key] = value;
  }

  delete(key: string): void {
    if (!this.has(key)) return;
    Reflect.deleteProperty(this.entries, key);
    this.count -= 1;
  }

  /** A copy of all values, the oldest keys first. */
  values(): Value[] {
    return Object.values(this.entries) as Value[];
  }
}
