/** Why a turn under way is broken off. */
export type TurnAbortCause = 'caller_gone' | 'cancel_requested' | 'agent_deleted' | 'thread_deleted' | 'timeout' | 'server_shutdown' | 'lost_ownership';

/** The reason an aborted turn's signal carries; everything that waits in the turn rejects with it. */
export class TurnAborted extends Error {
  constructor(readonly abortCause: TurnAbortCause) {
    super(`The turn was broken off: ${abortCause}`);
    this.name = 'TurnAborted';
  }
}
