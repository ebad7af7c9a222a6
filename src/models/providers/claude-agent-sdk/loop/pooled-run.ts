import { untilAborted } from '../../../../platform/clock/index.js';
import { AgentLoopFailure, type LoopedRun } from '../../../domain/agent-loop.js';
import type { AgentProcess } from './agent-process.js';
import { MAX_FAILURES } from './limits.js';
import type { ProcessPool } from './process-pool.js';
import type { Turn } from './turn.js';

interface Assignment {
  readonly process: AgentProcess;
  readonly turn: Turn;
}

/** A run on a process of the pool. If the process fails, another one takes over. */
export class PooledRun implements LoopedRun {
  private held: Assignment | undefined;
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
      // A process that takes over first asks for the model call, which the engine has already made.
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
        const { turn } = (this.held ??= await this.acquire());
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

  private async acquire(): Promise<Assignment> {
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

  private async giveBack({ process, turn }: Assignment): Promise<void> {
    await process.finish(turn);
    this.pool.release(process);
  }
}
