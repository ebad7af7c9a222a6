import { DomainError } from '../errors/index.js';

/** The message for the person at the browser. `who` is the other side: `server` or `drive`. */
export class SignInFailed extends DomainError {
  static unknown(): SignInFailed {
    return new SignInFailed(
      'invalid',
      'This sign-in is not known. It was completed already, or it took longer than 10 minutes. Start it again from the application that sent you here.',
    );
  }

  static denied(who: string): SignInFailed {
    return new SignInFailed(
      'invalid',
      `The ${who} did not grant access: it was refused, or the sign-in was cancelled. Start it again if that was a mistake.`,
    );
  }

  static withoutCode(who: string): SignInFailed {
    return new SignInFailed(
      'invalid',
      `The ${who} sent you back without the code that completes a sign-in. Go back and agree there, or start it again.`,
    );
  }

  static refused(who: string, detail?: string): SignInFailed {
    const message = `The ${who} did not accept the completed sign-in. Start it again from the application that sent you here.`;
    return new SignInFailed('bad_gateway', message, detail === undefined ? {} : { detail });
  }

  static unreachable(who: string, detail?: string): SignInFailed {
    const message = `The ${who} could not be reached to complete the sign-in. Wait a moment and start it again from the application that sent you here.`;
    return new SignInFailed('bad_gateway', message, detail === undefined ? {} : { detail });
  }
}
