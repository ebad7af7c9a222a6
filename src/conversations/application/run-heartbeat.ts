import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { DatabaseContact } from '../engine/database-contact.js';
import { HEARTBEAT_MS } from '../engine/limits.js';
import { RunOwner } from '../engine/run-owner.js';
import { type Heartbeat, RunRepository } from '../persistence/run.repository.js';
import { RunSupervisor } from './run-supervisor.js';

/**
 * Stores the heartbeat of this process, and aborts runs that are no longer its own: the reconciler of another process
 * has ended them while this process was suspended, or they were deleted with their thread or agent.
 */
@Injectable()
export class RunHeartbeat implements OnApplicationBootstrap, OnModuleDestroy {
  private stop: (() => void) | undefined;
  private beating: Promise<void> | undefined;
  readonly contact = new DatabaseContact();

  constructor(
    private readonly runs: RunRepository,
    private readonly owner: RunOwner,
    private readonly supervisor: RunSupervisor,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.contact.heard(this.clock.now().getTime(), await this.runs.startHeartbeat());
    this.stop = this.clock.every(HEARTBEAT_MS, () => {
      this.beat().catch((error: unknown) => {
        this.logger.warn({ err: error }, 'The heartbeat did not reach the database');
      });
    });
  }

  /** Lets other processes end the runs that are left at once, without waiting until this process counts as silent. */
  async onModuleDestroy(): Promise<void> {
    this.stop?.();
    try {
      await this.runs.retireOwner();
    } catch (error) {
      this.logger.warn({ err: error }, 'The heartbeat of this process could not be removed');
    }
  }

  /** Stores a heartbeat. A concurrent call waits for the one under way. */
  beat(): Promise<void> {
    this.beating ??= this.store().finally(() => {
      this.beating = undefined;
    });
    return this.beating;
  }

  /** Stores a heartbeat that reads what was stored before this call. */
  async look(): Promise<void> {
    await this.beating?.catch(() => undefined);
    await this.beat();
  }

  private async store(): Promise<void> {
    const running = this.supervisor.runs;
    const unsettled = [...this.owner.unsettled];
    const { contact, runs } = await this.send([...running.map(({ runId }) => runId), ...unsettled]);
    this.contact.heard(this.clock.now().getTime(), contact);
    for (const run of running) {
      const state = runs.get(run.runId);
      // The run was deleted with its thread or agent by another process.
      if (!state) run.abort('thread_deleted');
      else if (!state.owned) run.abort('lost_ownership');
      else if (state.cancelled) run.abort('cancel_requested');
    }
    // Deleted runs and those that another process has ended need no end any more.
    for (const runId of unsettled) if (runs.get(runId)?.owned !== true) this.owner.unsettled.delete(runId);
  }

  private async send(runIds: readonly string[]): Promise<Heartbeat> {
    try {
      return await this.runs.beat(runIds);
    } catch (error) {
      this.contact.lost();
      throw error;
    }
  }
}
