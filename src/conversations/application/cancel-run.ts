import { Injectable } from '@nestjs/common';
import type { RunReference } from '../domain/run.js';
import { RunReader } from '../persistence/run-reader.repository.js';
import { JoinRun } from './join-run.js';
import { type CurrentRun, ReadRun } from './read-run.js';
import { RunSupervisor } from './run-supervisor.js';

/** Ends a run at its user's request; the text so far is kept. */
@Injectable()
export class CancelRun {
  constructor(
    private readonly supervisor: RunSupervisor,
    private readonly runs: RunReader,
    private readonly joinRun: JoinRun,
    private readonly readRun: ReadRun,
  ) {}

  /**
   * Also right for a run that has ended: it is answered as it is. A run of another process ends at
   * that process's next heartbeat.
   * @param gone aborted when the caller leaves: the run is cancelled all the same, and nobody waits for its end
   * @returns the run as it ended
   * @throws DomainError `not_found`, `gone` when the caller left before the end
   */
  async execute(reference: RunReference, disconnected: () => AbortSignal): Promise<CurrentRun> {
    const { run } = await this.joinRun.read(reference);
    if (run.status === 'running') {
      await this.runs.requestCancel(reference);
      this.supervisor.find(reference)?.abort('cancel_requested');
      await this.joinRun.ended(reference, disconnected);
    }
    return this.readRun.execute(reference);
  }
}
