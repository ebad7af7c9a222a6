import { Injectable } from '@nestjs/common';
import { PassInvalid } from '../domain/access.errors.js';
import type { SessionPassPrincipal } from '../domain/principal.js';

/** Implemented by the context that mints session passes. */
export interface SessionPassVerifier {
  /**
   * @param token has the format of a signed token; the signature is not verified yet
   * @throws PassInvalid, PassExpired
   */
  verify(token: string): Promise<SessionPassPrincipal>;
}

/** Passes the verification of session passes on to the registered verifier. Without one, no pass is valid. */
@Injectable()
export class SessionPasses implements SessionPassVerifier {
  private verifier: SessionPassVerifier | undefined;

  /** The context that mints passes calls this in a constructor. */
  register(verifier: SessionPassVerifier): void {
    if (this.verifier) throw new Error('Two contexts verify session passes');
    this.verifier = verifier;
  }

  verify(token: string): Promise<SessionPassPrincipal> {
    return this.verifier ? this.verifier.verify(token) : Promise.reject(new PassInvalid());
  }
}
