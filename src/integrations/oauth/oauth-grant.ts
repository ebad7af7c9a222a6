import type { ProtectedServer } from './protected-server.js';

/** What somebody's sign-in gave an integration, without its tokens. */
export interface OAuthGrant {
  readonly organizationId: string;
  readonly integrationId: string;
  /** The address that the grant was made for; for another one it does not count. */
  readonly serverUrl: string;
  readonly issuer: string;
  readonly status: 'authorized' | 'gone';
  readonly scope: string | null;
  /** What calls lacked since the sign-in; the next one asks for it. */
  readonly neededScope: string | null;
  readonly version: string;
  readonly generation: string;
  /** When the tokens of this generation were given. */
  readonly receivedAt: Date;
  /** Null where the server does not say. */
  readonly expiresAt: Date | null;
  /** From when on the access token is replaced. */
  readonly refreshAt: Date | null;
}

export type OAuthGrantState = 'none' | 'authorized' | 'gone';

export function stateFor(grant: OAuthGrant | null, { url }: Pick<ProtectedServer, 'url'>): OAuthGrantState {
  return grant?.serverUrl === url ? grant.status : 'none';
}
