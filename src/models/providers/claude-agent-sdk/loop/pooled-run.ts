import { untilAborted } from '../../../../platform/clock/index.js';
import { AgentLoopFailure, type LoopedRun } from '../../../domain/agent-loop.js';
import type { AgentProcess } from './agent-process.js';
import { MAX_FAILURES } from './limits.js';
import type { ProcessPool } from './process-pool.js';
import type { Turn } from './turn.js';

interface Held {
  readonly process: AgentProcess;
  readonly turn: Turn;
}

/** A run on a process of the pool, from its first step to its end, and on another process where the first one fails. */
export class PooledRun implements LoopedRun {
  private held: Held | undefined;
  private failures = 0;

  constructor(
    private readonly pool: ProcessPool,
    private readonly organizationId: string,
    private readonly signal: AbortSignal,
    private readonly onFailure: (failure: AgentLoopFailure) => void,
  ) {}

  readyForModel(): Promise<void> {
    return this.step((turn) => turn.modelCall());
  }

  readyForTools(calls: number): Promise<void> {
    return this.step(async (turn) => {
      // A process that takes over asks for the model first, and gets the answer that the run already has.
      await turn.modelCall();
      await turn.toolCalls(calls);
    });
  }

  end(): void {
    const { held } = this;
    this.held = undefined;
    if (held !== undefined) void this.giveBack(held);
  }

  private async step(work: (turn: Turn) => Promise<void>): Promise<void> {
    for (;;) {
      try {
        const { turn } = (this.held ??= await this.hold());
        await untilAborted(work(turn), this.signal);
        return;
      } catch (error) {
        this.signal.throwIfAborted();
        if (!(error instanceof AgentLoopFailure)) throw error;
        this.onFailure(error);
        this.failures += 1;
        await this.drop();
        if (this.failures >= MAX_FAILURES) throw error;
      }
    }
  }

  private async hold(): Promise<Held> {
    const process = await this.pool.acquire(this.organizationId, this.signal);
    return { process, turn: process.begin() };
  }

  private async drop(): Promise<void> {
    const { held } = this;
    this.held = undefined;
    if (held === undefined) return;
    await held.process.kill('it failed in a run');
    this.pool.release(held.process);
  }

  private async giveBack({ process, turn }: Held): Promise<void> {
    await process.finish(turn);
    this.pool.release(process);
  }
}
