import { Injectable } from '@nestjs/common';
import { PassInvalid } from '../domain/access.errors.js';
import type { SessionPassPrincipal } from '../domain/principal.js';

/** Tells whose a session pass is; implemented by the context that mints them. */
export interface SessionPassVerifier {
  /**
   * @param token of the form of a signed token, whoever signed it
   * @throws PassInvalid, PassExpired
   */
  verify(token: string): Promise<SessionPassPrincipal>;
}

/** Knows who verifies session passes, so that authentication needs nothing of how they are made; without anybody none is good. */
@Injectable()
export class SessionPasses implements SessionPassVerifier {
  private verifier: SessionPassVerifier | undefined;

  /** Called once, by the context that mints them, in `onModuleInit`. */
  register(verifier: SessionPassVerifier): void {
    if (this.verifier) throw new Error('Two contexts verify session passes');
    this.verifier = verifier;
  }

  verify(token: string): Promise<SessionPassPrincipal> {
    return this.verifier ? this.verifier.verify(token) : Promise.reject(new PassInvalid());
  }
}
