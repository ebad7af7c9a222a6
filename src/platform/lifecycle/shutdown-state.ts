import { Injectable } from '@nestjs/common';

/** A part with active work, which a stopping process waits for and then aborts. */
export interface ShutdownParticipant {
  readonly name: string;
  /** Resolves when no work is active. */
  idle(): Promise<void>;
  /** Aborts active work; called once, after the time in which it may end by itself. */
  abort(): Promise<void>;
}

@Injectable()
export class ShutdownState {
  private readonly registered = new Set<ShutdownParticipant>();
  private leaving = false;
  private stopping = false;
  private readonly failing = Promise.withResolvers<string>();

  /** The process is about to stop and no longer ready; it serves requests until `isStopping`. */
  get isLeaving(): boolean {
    return this.leaving;
  }

  get isStopping(): boolean {
    return this.stopping;
  }

  /** Resolves with the reason why the process can never go on, and has to stop. */
  get failure(): Promise<string> {
    return this.failing.promise;
  }

  get participants(): readonly ShutdownParticipant[] {
    return [...this.registered];
  }

  register(participant: ShutdownParticipant): void {
    this.registered.add(participant);
  }

  /** For a reason that a start would fail with too. The process stops as at a signal, and exits with 1. */
  fail(reason: string): void {
    this.failing.resolve(reason);
  }

  /** From now on the process is not ready. */
  leave(): void {
    this.leaving = true;
  }

  /** From now on the process is not ready and accepts no new work. */
  begin(): void {
    this.leaving = true;
    this.stopping = true;
  }
}
