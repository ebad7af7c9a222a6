import { DomainError } from '../../platform/errors/index.js';
import { MAX_INTEGRATIONS_PER_AGENT } from '../limits.js';

/** The same answer for integrations of other agents and other organizations. */
export class IntegrationNotFound extends DomainError {
  constructor() {
    super('not_found', 'The agent has no such tool integration.');
  }
}

/** The agent already has an integration of this identity, or the organization has one that differs from the request. */
export class IntegrationExists extends DomainError {
  private constructor(message: string) {
    super('conflict', message, { code: 'integration_exists' });
  }

  static onAgent(identity: string): IntegrationExists {
    return new IntegrationExists(`The agent has the tool integration '${identity}' already; change that one instead.`);
  }

  static withOtherSettings(identity: string): IntegrationExists {
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

/** A caller other than the model needs a tool that does not exist. */
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
