import { DomainError } from '../../platform/errors/index.js';
import { MAX_INTEGRATIONS_PER_AGENT } from '../limits.js';

/** Also one of another agent, or of another organization. */
export class IntegrationNotFound extends DomainError {
  constructor() {
    super('not_found', 'The agent has no such tool integration.');
  }
}

/** The agent has one of this identity, or the organization has one that is not as the request describes it. */
export class IntegrationExists extends DomainError {
  private constructor(message: string) {
    super('conflict', message, { code: 'integration_exists' });
  }

  static onAgent(identity: string): IntegrationExists {
    return new IntegrationExists(`The agent has the tool integration '${identity}' already; change that one instead.`);
  }

  static otherwise(identity: string): IntegrationExists {
    return new IntegrationExists(
      `The organization has a tool integration '${identity}' with other settings, secrets or excluded tools. Send the ` +
        'same to use it with this agent too, or choose another name.',
    );
  }
}

export class IntegrationIdentityMismatch extends DomainError {
  constructor(field: string, value: string) {
    super('invalid', `body/${field} must be '${value}', as it was created; make another integration instead.`, {
      code: 'integration_identity_mismatch',
    });
  }
}

/** Something other than the model wants a tool that there is not. */
export class AppToolMissing extends DomainError {
  constructor(message: string) {
    super('unprocessable', message);
  }
}

export class TooManyIntegrations extends DomainError {
  constructor() {
    super(
      'unprocessable',
      `An agent can have ${MAX_INTEGRATIONS_PER_AGENT} tool integrations, and this one has as many; delete one first.`,
    );
  }
}
