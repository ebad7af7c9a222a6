/** Why a run is ended before it completes. */
export type RunAbortCause =
  | 'caller_disconnected'
  | 'cancel_requested'
  | 'agent_deleted'
  | 'thread_deleted'
  | 'timeout'
  | 'server_shutdown'
  | 'lost_ownership';

/** The reason of an aborted run's signal. */
export class RunAborted extends Error {
  constructor(readonly abortCause: RunAbortCause) {
    super(`The run was aborted: ${abortCause}`);
    this.name = 'RunAborted';
  }
}

/** The model reads this as the result of a call that was under way when its run was aborted. */
export function unknownOutcome(cause: RunAbortCause): string {
  return `The outcome of this call is unknown: ${ENDED_BY[cause]} while it was under way.`;
}

const STOPPED = 'the service stopped';
const ENDED_BY: Readonly<Record<RunAbortCause, string>> = {
  cancel_requested: 'the user cancelled the reply',
  caller_disconnected: 'the user disconnected, which cancelled the reply,',
  timeout: 'the time for the reply was over',
  agent_deleted: 'the agent was deleted',
  thread_deleted: 'the conversation was deleted',
  server_shutdown: STOPPED,
  lost_ownership: STOPPED,
};
