import { DomainError } from '../../platform/errors/index.js';
import { MAX_RENEWALS } from './session.js';

/** The bodies of the session routes name their cause in `error` alone. */
export class SessionAgentNotFound extends DomainError {
  constructor() {
    super('not_found', 'No agent with this id exists.', { error: 'agent_not_found', bare: true });
  }
}

/** Of another organization, of another agent and invented ones are answered alike. */
export class SessionThreadNotFound extends DomainError {
  constructor() {
    super('not_found', 'The agent has no conversation with this id.', { error: 'thread_not_found', bare: true });
  }
}

/** Unknown, of another organization, with another `endUser`, or ended: which one it was helps only a guesser. */
export class ResumeTokenInvalid extends DomainError {
  constructor() {
    super(
      'invalid',
      'The resume token is not valid for this endUser, or its session has been ended. Start a new session.',
      {
        code: 'resume_token_invalid',
      },
    );
  }
}

export class ResumeTokenExpired extends DomainError {
  constructor() {
    super('invalid', 'The resume token has expired, and with it the session. Start a new one.', {
      code: 'resume_token_expired',
    });
  }
}

/** A cap for the whole life of the session: waiting does not help. */
export class SessionRenewalsUsed extends DomainError {
  constructor() {
    super('rate_limited', `The session has used all its ${MAX_RENEWALS} renewals. Start a new session.`, {
      code: 'session_refresh_cap_exhausted',
    });
  }
}
