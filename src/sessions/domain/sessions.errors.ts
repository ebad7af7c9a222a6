import { DomainError } from '../../platform/errors/index.js';
import { MAX_RENEWALS } from './session.js';

/** The bodies of the session routes name their cause in `error` alone. */
export class SessionAgentNotFound extends DomainError {
  constructor() {
    super('not_found', 'No agent with this id exists.', { error: 'agent_not_found', bare: true });
  }
}

/** The same answer for threads of other organizations or agents and for unknown ids. */
export class SessionThreadNotFound extends DomainError {
  constructor() {
    super('not_found', 'The agent has no conversation with this id.', { error: 'thread_not_found', bare: true });
  }
}

/** The same answer for unknown tokens, other organizations, another `endUser` and ended sessions: a reason would only help guessing. */
export class ResumeTokenInvalid extends DomainError {
  constructor() {
    super(
      'invalid',
      'The resume token is not valid for this endUser, or its session has been ended. Start a new session.',
      { code: 'resume_token_invalid' },
    );
  }
}

export class ResumeTokenExpired extends DomainError {
  constructor() {
    super('invalid', 'The resume token and its session have expired. Start a new session.', {
      code: 'resume_token_expired',
    });
  }
}

/** The cap counts for the whole session, so the answer has no `Retry-After`. */
export class SessionRenewalsUsed extends DomainError {
  constructor() {
    super('rate_limited', `The session has used all its ${MAX_RENEWALS} renewals. Start a new session.`, {
      code: 'session_refresh_cap_exhausted',
    });
  }
}
