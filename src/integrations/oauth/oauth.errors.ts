import { DomainError } from '../../platform/errors/index.js';

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

/** What the person at the browser reads. */
export class SignInFailed extends DomainError {
  static unknown(): SignInFailed {
    return new SignInFailed(
      'invalid',
      'This sign-in is not known. It was completed already, or it took longer than 10 minutes. Start it again from the application that sent you here.',
    );
  }

  static denied(): SignInFailed {
    return new SignInFailed(
      'invalid',
      'The server did not grant access: it was refused, or the sign-in was cancelled. Start it again if that was a mistake.',
    );
  }

  static changed(): SignInFailed {
    return new SignInFailed(
      'invalid',
      'The tool integration was changed or removed while you signed in. Start the sign-in again from the application that sent you here.',
    );
  }

  static wrongIssuer(): SignInFailed {
    return new SignInFailed(
      'invalid',
      'The answer came from another server than the one that was asked, so it was not used. Start the sign-in again, and tell the operator of the tool server if this happens again.',
    );
  }

  static withoutCode(): SignInFailed {
    return new SignInFailed('invalid', 'The server sent you back without the code that completes a sign-in. Start it again.');
  }

  static refused(detail?: string): SignInFailed {
    return new SignInFailed(
      'bad_gateway',
      'The server did not accept the completed sign-in. Start it again from the application that sent you here.',
      detail === undefined ? {} : { detail },
    );
  }

  static unreachable(detail?: string): SignInFailed {
    return new SignInFailed(
      'bad_gateway',
      'The server could not be reached to complete the sign-in. Wait a moment and start it again from the application that sent you here.',
      detail === undefined ? {} : { detail },
    );
  }
}
