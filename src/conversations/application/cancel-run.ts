import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import type { RunReference } from '../domain/run.js';
import { RunReader } from '../persistence/run-reader.repository.js';
import { type CurrentRun, JoinRun } from './join-run.js';
import { RunSignals } from './run-signals.js';
import { RunSupervisor } from './run-supervisor.js';

/** Ends a run at its user's request; its message keeps the text so far. */
@Injectable()
export class CancelRun {
  constructor(
    private readonly supervisor: RunSupervisor,
    private readonly signals: RunSignals,
    private readonly runs: RunReader,
    private readonly joinRun: JoinRun,
    private readonly clock: Clock,
  ) {}

  /**
   * @param disconnected the signal aborts when the caller disconnects; the run is cancelled all the same
   * @returns the run as it ended
   * @throws DomainError `not_found`, `gone` when the caller disconnected before the end
   */
  async execute(reference: RunReference, disconnected: () => AbortSignal): Promise<CurrentRun> {
    if (await this.request(reference)) await this.joinRun.ended(reference, disconnected);
    return this.joinRun.read(reference);
  }

  /**
   * Does not wait for the end, nor change a run that has ended. Another process that executes the run is signalled.
   * @returns whether the run was under way
   * @throws DomainError `not_found`
   */
  async request(reference: RunReference): Promise<boolean> {
    const { run } = await this.joinRun.read(reference);
    if (run.status !== 'running') return false;
    await this.runs.requestCancel(reference, this.clock.now());
    const here = this.supervisor.find(reference);
    if (here) here.abort('cancel_requested');
    else this.signals.changed(reference);
    return true;
  }
}
