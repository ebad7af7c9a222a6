/** Why a run under way is broken off. */
export type RunAbortCause =
  | 'caller_gone'
  | 'cancel_requested'
  | 'agent_deleted'
  | 'thread_deleted'
  | 'timeout'
  | 'server_shutdown'
  | 'lost_ownership';

/** The reason an aborted run's signal carries; everything that waits in the run rejects with it. */
export class RunAborted extends Error {
  constructor(readonly abortCause: RunAbortCause) {
    super(`The run was broken off: ${abortCause}`);
    this.name = 'RunAborted';
  }
}

/** What a model reads as the result of a call that was under way when its run ended early. */
export function unknownOutcome(cause: RunAbortCause): string {
  return `The outcome of this call is unknown: ${ENDED_BY[cause]} while it was under way.`;
}

const STOPPED = 'the service stopped';
const ENDED_BY: Readonly<Record<RunAbortCause, string>> = {
  cancel_requested: 'the user cancelled the reply',
  caller_gone: 'the user went away, which cancelled the reply,',
  timeout: 'the time for the reply was over',
  agent_deleted: 'the agent was deleted',
  thread_deleted: 'the conversation was deleted',
  server_shutdown: STOPPED,
  lost_ownership: STOPPED,
};
