import { DomainError } from '../../platform/errors/index.js';

/** The same for a trace that is absent, of another agent or organization, or past its retention. */
export class TraceNotFound extends DomainError {
  constructor() {
    super('not_found', 'This agent has no trace with this id from the last 90 days.');
  }
}

/** The same for a user's message, a message of another agent, and a message that no run has written. */
export class MessageTraceNotFound extends DomainError {
  constructor() {
    super('not_found', 'No run of this agent within the last 90 days has written a message with this id.');
  }
}

export class ForbiddenTraceAccess extends DomainError {
  constructor() {
    super('forbidden', 'Traces of agents with HIPAA data handling cannot be read.', {
      code: 'forbidden_trace_access_for_hipaa_agent',
    });
  }
}
