import { Injectable } from '@nestjs/common';
import { RunReader, type StoredRun } from '../persistence/run-reader.repository.js';
import { JoinRun, type RunReference } from './join-run.js';
import { RunSupervisor } from './run-supervisor.js';

/** Ends a run because its user wants no more of it; the text so far is kept. */
@Injectable()
export class CancelRun {
  constructor(
    private readonly supervisor: RunSupervisor,
    private readonly runs: RunReader,
    private readonly joinRun: JoinRun,
  ) {}

  /**
   * Also right for a run that has ended: it is answered as it is. A run of another process ends at
   * that process's next heartbeat.
   * @returns the run as it ended
   * @throws DomainError `not_found`
   */
  async execute(reference: RunReference): Promise<StoredRun> {
    const { run } = await this.joinRun.read(reference);
    if (run.status === 'running') {
      await this.runs.requestCancel(reference.organizationId, reference.runId);
      this.supervisor.find(reference.runId)?.abort('cancel_requested');
      await this.joinRun.join(reference, run.agentId).ended;
    }
    return this.joinRun.read(reference);
  }
}
