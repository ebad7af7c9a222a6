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
  private stopping = false;

  get isStopping(): boolean {
    return this.stopping;
  }

  get participants(): readonly ShutdownParticipant[] {
    return [...this.registered];
  }

  register(participant: ShutdownParticipant): void {
    this.registered.add(participant);
  }

  /** From now on the process is not ready and accepts no new work. */
  begin(): void {
    this.stopping = true;
  }
}
