import { Injectable } from '@nestjs/common';

/** Something that has work under way which a stopping process lets end, or ends. */
export interface ShutdownParticipant {
  /** Names it in the log. */
  readonly name: string;
  /** Resolves when nothing is under way (any more). */
  idle(): Promise<void>;
  /** Ends what is under way; called once, when the time to end by itself is over. */
  abort(): Promise<void>;
}

/** Whether this process is stopping, and who has work under way. */
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

  /** From now on the process is not ready and takes no new work. */
  begin(): void {
    this.stopping = true;
  }
}
