/** Why a run under way is broken off. */
export type RunAbortCause = 'caller_gone' | 'cancel_requested' | 'agent_deleted' | 'thread_deleted' | 'timeout' | 'server_shutdown' | 'lost_ownership';

/** The reason an aborted run's signal carries; everything that waits in the run rejects with it. */
export class RunAborted extends Error {
  constructor(readonly abortCause: RunAbortCause) {
    super(`The run was broken off: ${abortCause}`);
    this.name = 'RunAborted';
  }
}
