import { PGlite } from '@electric-sql/pglite';

/** The embedded database has crashed: it answers nothing more, and only another process can open its folder again. */
export class EngineCrashed extends Error {
  /** `crash_shutdown`, as a server's connections report it. */
  readonly code = '57P02';

  constructor(cause: unknown) {
    super('The embedded database has crashed', { cause });
  }
}

/** By its name, since it may be of another realm. PostgreSQL's own `PANIC` becomes one too, because it aborts. */
function isTrap(error: unknown): boolean {
  return (error as Partial<Error> | null | undefined)?.name === 'RuntimeError';
}

/**
 * PGlite ignores whatever its engine throws, because an SQL error unwinds by a throw as well. Two things follow, which this class
 * prevents: after a trap it would go on with broken memory, and answer with errors, with no rows where there are some, or in an endless
 * loop; and the stack of the engine would shrink with each SQL error, so that after some thousand of them every statement failed.
 */
export class GuardedPglite extends PGlite {
  /** Called at once, before anything waits for the statement that crashed. */
  onCrash: (error: EngineCrashed) => void = () => undefined;
  private crash: EngineCrashed | undefined;
  private step: (() => void) | undefined;

  override execProtocolRawSync(message: Uint8Array): Uint8Array {
    if (this.crash) throw this.crash;
    this.guard();
    const stack = this.stackPointer();
    const before = stack?.value ?? 0;
    try {
      return super.execProtocolRawSync(message);
    } catch (error) {
      throw isTrap(error) ? this.fail(error) : error;
    } finally {
      // Nothing of the engine runs between two messages, so what an error left on the stack is garbage.
      if (stack) stack.value = before;
    }
  }

  /** Before each message, because the engine replaces a function by another at its first call. */
  private guard(): void {
    const { mod } = this;
    if (!mod || mod._PostgresMainLoopOnce === this.step) return;
    const { _PostgresMainLoopOnce: step, _pgl_setPGliteExitStatus: setStatus } = mod;
    this.step = mod._PostgresMainLoopOnce = () => {
      try {
        step();
      } catch (error) {
        if (isTrap(error)) this.fail(error);
        throw error;
      }
    };
    // PGlite calls it with what it caught, and repeats the step unless this throws.
    mod._pgl_setPGliteExitStatus = (status) => {
      if (this.crash) throw this.crash;
      return setStatus(status);
    };
  }

  /** The engine exports it for its extensions; PGlite does not declare it. */
  private stackPointer(): { value: number } | undefined {
    return (this.mod as { readonly ___stack_pointer?: { value: number } } | undefined)?.___stack_pointer;
  }

  private fail(error: unknown): EngineCrashed {
    if (this.crash) return this.crash;
    this.crash = new EngineCrashed(error);
    this.onCrash(this.crash);
    return this.crash;
  }
}
