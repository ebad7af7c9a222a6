import { DomainError } from '../../platform/errors/index.js';
import { SignInFailed } from '../../platform/oauth/index.js';

/**
 * A tool server or its authorization server does not do its part. `message` is public; `detail` names what failed and
 * never holds what the server sent, which may be a secret.
 */
export class AuthorizationServerFailed extends DomainError {
  constructor(message: string, detail?: string) {
    super('bad_gateway', message, detail === undefined ? {} : { detail });
  }
}

export class OAuthNotUsed extends DomainError {
  constructor() {
    super('unprocessable', 'The tool integration does not authenticate with OAuth, so there is nothing to sign in to.');
  }
}

export function integrationChanged(): SignInFailed {
  return new SignInFailed(
    'invalid',
    'The tool integration was changed or removed while you signed in. Start the sign-in again from the application that sent you here.',
  );
}

export function wrongIssuer(): SignInFailed {
  return new SignInFailed(
    'invalid',
    'The answer came from another server than the one that was asked, so it was not used. Start the sign-in again, and tell the operator of the tool server if this happens again.',
  );
}
