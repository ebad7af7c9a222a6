import type { Feature } from '../../access/index.js';
import { DomainError } from '../../platform/errors/index.js';

/** The causes that answer `400 {error, message}` on creating and changing an agent. */
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

/** Also the answer for an agent of another organization, and for one whose type the API does not manage. */
export class AgentNotFound extends DomainError {
  constructor() {
    super('not_found', 'There is no such agent in this organization.');
  }
}

/** The request is well formed; an agent of this type cannot do what it asks. */
export class UnsupportedForAgentType extends DomainError {
  constructor(message: string) {
    super('unprocessable', message, { code: 'unsupported_for_agent_type' });
  }
}

/** The `If-Match` of a write names a version that is no longer the agent's. */
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

/** The version is there; the agent cannot be as it was. `why` is a clause that ends the sentence. */
export class VersionNotRestorable extends DomainError {
  constructor(why: string) {
    super('unprocessable', `The version cannot be restored: ${why}`, { code: 'version_not_restorable' });
  }
}

/** There is no key to rotate. */
export class AgentOnManagedKey extends DomainError {
  constructor() {
    super(
      'unprocessable',
      'The agent runs on the managed key; only agents with useOwnApiKey have a key of their own.',
      {
        code: 'agent_on_managed_key',
      },
    );
  }
}
