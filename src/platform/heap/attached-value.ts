/**
 * A value of each of many short-lived objects, such as requests, kept on the object itself, under a symbol of its own.
 *
 * Not in a `WeakMap`: V8 drops an entry whose value refers to its key, as that of a request does, only when it collects the whole
 * heap. Until then the object and all that it refers to gets old, and collections of the whole heap, after which V8 compiles much of
 * the code again, become several times as frequent.
 */
export class AttachedValue<Holder extends object, Value> {
  private readonly key = Symbol('attached value');

  get(holder: Holder): Value | undefined {
    return (holder as Record<symbol, Value | undefined>)[this.key];
  }

  set(holder: Holder, value: Value): void {
    (holder as Record<symbol, Value | undefined>)[this.key] = value;
  }

  remove(holder: Holder): void {
    (holder as Record<symbol, Value | undefined>)[this.key] = undefined;
  }
}
