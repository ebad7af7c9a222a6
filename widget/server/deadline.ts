/** A signal that aborts with another one, or after some time. End it, so that its timer does not outlive the work. */
export class Deadline {
  readonly signal: AbortSignal;
  private readonly late = new AbortController();
  private readonly timer: ReturnType<typeof setTimeout>;

  constructor(ms: number, signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.late.signal]);
    this.timer = setTimeout(() => {
      this.late.abort();
    }, ms);
  }

  /** Whether the time is over. */
  get isOver(): boolean {
    return this.late.signal.aborted;
  }

  end(): void {
    clearTimeout(this.timer);
  }
}
