import { DomainError } from '../../platform/errors/index.js';
import type { Capability } from './capability.js';

export class ApiKeyMissing extends DomainError {
  constructor() {
    super('unauthenticated', 'Send an API key in the header `Authorization: Bearer <API_KEY>`.', {
      code: 'api_key_missing',
    });
  }
}

/** The same error for malformed, unknown, revoked and expired keys, because the difference helps only an attacker. */
export class ApiKeyInvalid extends DomainError {
  constructor() {
    super('unauthenticated', 'The API key is not valid, or it has been revoked or has expired.', {
      code: 'api_key_invalid',
    });
  }
}

export class ForbiddenByKeyRole extends DomainError {
  constructor(message: string) {
    super('forbidden', message, { code: 'forbidden_by_key_role' });
  }

  static lacking(capability: Capability): ForbiddenByKeyRole {
    return new ForbiddenByKeyRole(`This API key lacks the capability ${capability}.`);
  }
}

export class ForbiddenOrganizationEndpoint extends DomainError {
  constructor() {
    super('forbidden', 'An API key with an agent allowlist cannot call an organization-level endpoint.', {
      code: 'forbidden_org_endpoint_for_scoped_key',
    });
  }
}

export class ForbiddenByAgentAllowlist extends DomainError {
  constructor(message = "The agent is not on this API key's allowlist.") {
    super('forbidden', message, { code: 'forbidden_by_agent_allowlist' });
  }
}

/** The same error for a wrong signature, a changed token and an ended session, because the difference helps only an attacker. */
export class PassInvalid extends DomainError {
  constructor() {
    super('unauthenticated', 'The session pass is not valid, or its session has been ended.', { code: 'pass_invalid' });
  }
}

/** The client can get a new pass with the session's resume token. */
export class PassExpired extends DomainError {
  constructor() {
    super('unauthenticated', 'The session pass has expired. Renew it, then send the request again.', {
      code: 'pass_expired',
    });
  }
}

export class ForbiddenForSessionPass extends DomainError {
  constructor(message: string) {
    super('forbidden', message, { code: 'forbidden_for_session_pass' });
  }

  static route(): ForbiddenForSessionPass {
    return new ForbiddenForSessionPass(
      'A session pass is accepted only for the messages and runs of its own conversation.',
    );
  }
}

export class ForbiddenAgentNotInPass extends DomainError {
  constructor() {
    super('forbidden', 'The session pass is for another agent.', { code: 'forbidden_agent_not_in_pass' });
  }
}

/** The route does not declare who may call it, so every request is refused. */
export class UndeclaredRoute extends DomainError {
  constructor(route: string) {
    super('forbidden', 'This route cannot be called.', {
      detail: `${route} declares neither @Access nor @PublicRoute`,
    });
  }
}

export class OrganizationNotFound extends DomainError {
  constructor(id: string) {
    super('not_found', `There is no organization ${id}.`);
  }
}

export class MemberNotFound extends DomainError {
  constructor(id: string) {
    super('not_found', `The organization has no member ${id}.`);
  }
}

export class MemberExists extends DomainError {
  constructor(email: string) {
    super('conflict', `The organization already has a member with the e-mail address ${email}.`, {
      code: 'member_exists',
    });
  }
}

export class ApiKeyNotFound extends DomainError {
  constructor(id: string) {
    super('not_found', `There is no API key ${id}.`);
  }
}
