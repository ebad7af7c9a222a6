import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { HEARTBEAT_MS } from '../engine/tunables.js';
import { RunOwner } from '../engine/run-owner.js';
import { RunRepository } from '../persistence/run.repository.js';
import { RunSupervisor } from './run-supervisor.js';

/**
 * Says at every heartbeat that this process lives, and breaks off those of its runs that are no
 * longer its own: ended by a reconciler while the process stood still, or deleted with their thread or agent.
 */
@Injectable()
export class KeepRunsOwned implements OnApplicationBootstrap, OnModuleDestroy {
  private stop: (() => void) | undefined;
  private beating = false;

  constructor(
    private readonly runs: RunRepository,
    private readonly owner: RunOwner,
    private readonly supervisor: RunSupervisor,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.runs.startHeartbeat(this.owner.id);
    this.stop = this.clock.every(HEARTBEAT_MS, () => {
      this.beat().catch((error: unknown) => {
        this.logger.warn({ err: error }, 'The heartbeat did not reach the database');
      });
    });
  }

  /** What this process could not end falls to the others at once instead of after its silence. */
  async onModuleDestroy(): Promise<void> {
    this.stop?.();
    try {
      await this.runs.retireOwner(this.owner.id);
    } catch (error) {
      this.logger.warn({ err: error }, 'This process could not be signed off as the owner of runs');
    }
  }

  async beat(): Promise<void> {
    if (this.beating) return;
    this.beating = true;
    try {
      const running = this.supervisor.runs;
      const known = await this.runs.beat(
        this.owner.id,
        running.map((run) => run.runId),
      );
      for (const run of running) {
        const state = known.get(run.runId);
        // Runs go with their thread, and threads with their agent: somebody deleted one of them in another process.
        if (!state) run.abort('thread_deleted');
        else if (!state.owned) run.abort('lost_ownership');
        else if (state.cancelled) run.abort('cancel_requested');
      }
    } finally {
      this.beating = false;
    }
  }
}
