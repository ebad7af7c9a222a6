import type { Feature } from '../../access/index.js';
import { DomainError } from '../../platform/errors/index.js';

/** The values of `error` in a `400` response to creating or changing an agent. */
export type AgentCause =
  | 'agent_limit_reached'
  | 'provider_type_mismatch'
  | 'system_prompt_too_long'
  | `${Feature}_not_permitted`
  | 'ai_gateway_unsupported_provider'
  | 'bad_request';

export class AgentRefused extends DomainError {
  constructor(cause: AgentCause, message: string) {
    super('invalid', message, { error: cause, bare: true });
  }
}

/** Also for an agent of another organization, and for one whose type the API does not manage. */
export class AgentNotFound extends DomainError {
  constructor() {
    super('not_found', 'There is no such agent in this organization.');
  }
}

/** The request is well formed, but agents of this type do not support it. */
export class UnsupportedForAgentType extends DomainError {
  constructor(message: string) {
    super('unprocessable', message, { code: 'unsupported_for_agent_type' });
  }
}

/** The `If-Match` header of a write does not contain the agent's version. */
export class VersionConflict extends DomainError {
  constructor(current: number) {
    const message = `The agent has changed: it is at version ${String(current)}. Read it again and repeat the change.`;
    super('conflict', message, { code: 'version_conflict' });
  }
}

export class VersionNotFound extends DomainError {
  constructor() {
    super('not_found', 'The agent has no such version.');
  }
}

/** @param why a clause that completes the message */
export class VersionNotRestorable extends DomainError {
  constructor(why: string) {
    super('unprocessable', `The version cannot be restored: ${why}`, { code: 'version_not_restorable' });
  }
}

/** The agent has no key that could be rotated. */
export class AgentOnManagedKey extends DomainError {
  constructor() {
    super(
      'unprocessable',
      'The agent uses the managed key; only agents with useOwnApiKey have a key that can be replaced.',
      { code: 'agent_on_managed_key' },
    );
  }
}
