import { DomainError } from '../../platform/errors/index.js';
import { SignInFailed } from '../../platform/oauth/index.js';
import { McpFailure } from '../mcp/mcp-failure.js';

/**
 * A tool server or its authorization server failed. `message` is public. `detail` names what failed, without text of the server,
 * which may contain a secret.
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
    'The answer came from another server than the one that you were sent to, so it was not used. Start the sign-in again, and tell the operator of the tool server if this happens again.',
  );
}

const MESSAGES = {
  none: 'The tool server requires a sign-in, and no person has signed in to it yet.',
  gone: 'The sign-in to the tool server is no longer valid. A person has to sign in again.',
  refused:
    'The tool server does not accept the access that its authorization server gives. Try again later, or sign in again.',
  scope:
    'The tool server requires more permissions than the sign-in gave. A person has to sign in again to grant them.',
};

/** A failure that ends when a person signs in. */
export function needsAuthorization(why: keyof typeof MESSAGES): McpFailure {
  return new McpFailure('needs_authorization', MESSAGES[why]);
}
