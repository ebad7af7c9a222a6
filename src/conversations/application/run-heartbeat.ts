import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { Contact } from '../engine/contact.js';
import { HEARTBEAT_MS } from '../engine/limits.js';
import { RunOwner } from '../engine/run-owner.js';
import { type Heartbeat, RunRepository } from '../persistence/run.repository.js';
import { RunSupervisor } from './run-supervisor.js';

/**
 * Stores the heartbeat of this process, and aborts those of its runs that are no longer its own: ended by a reconciler
 * while the process was suspended, or deleted with their thread or agent.
 */
@Injectable()
export class RunHeartbeat implements OnApplicationBootstrap, OnModuleDestroy {
  private stop: (() => void) | undefined;
  private beating: Promise<void> | undefined;
  private readonly contact = new Contact();

  constructor(
    private readonly runs: RunRepository,
    private readonly owner: RunOwner,
    private readonly supervisor: RunSupervisor,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.contact.heard(this.time(), await this.runs.startHeartbeat(this.owner.id));
    this.stop = this.clock.every(HEARTBEAT_MS, () => {
      this.beat().catch((error: unknown) => {
        this.logger.warn({ err: error }, 'The heartbeat did not reach the database');
      });
    });
  }

  /** Other processes may then end at once what this one could not, without waiting for its silence. */
  async onModuleDestroy(): Promise<void> {
    this.stop?.();
    try {
      await this.runs.retireOwner(this.owner.id);
    } catch (error) {
      this.logger.warn({ err: error }, 'This process could not be signed off as the owner of runs');
    }
  }

  /** One heartbeat; a call while one is under way waits for that one. */
  beat(): Promise<void> {
    this.beating ??= this.speak().finally(() => {
      this.beating = undefined;
    });
    return this.beating;
  }

  /** Names this process's contact with the database, for whoever judges by it; null where there is none. */
  get contactId(): string | null {
    return this.contact.id;
  }

  /** Whether this process has been in contact with the database for so long without a break. */
  inContactFor(seconds: number): boolean {
    return this.contact.lasted(this.time(), seconds);
  }

  private async speak(): Promise<void> {
    const running = this.supervisor.runs;
    const unsettled = [...this.owner.unsettled];
    const { contact, runs } = await this.tell([...running.map(({ runId }) => runId), ...unsettled]);
    this.contact.heard(this.time(), contact);
    for (const run of running) {
      const state = runs.get(run.runId);
      // Runs go with their thread, and threads with their agent: somebody deleted one of them in another process.
      if (!state) run.abort('thread_deleted');
      else if (!state.owned) run.abort('lost_ownership');
      else if (state.cancelled) run.abort('cancel_requested');
    }
    // Nothing is left to store of what is gone, or has been ended by somebody else.
    for (const runId of unsettled) if (runs.get(runId)?.owned !== true) this.owner.unsettled.delete(runId);
  }

  private async tell(runIds: readonly string[]): Promise<Heartbeat> {
    try {
      return await this.runs.beat(this.owner.id, runIds);
    } catch (error) {
      this.contact.lost();
      throw error;
    }
  }

  private time(): number {
    return this.clock.now().getTime();
  }
}
