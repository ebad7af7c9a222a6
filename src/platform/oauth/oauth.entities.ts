import { p } from '@mikro-orm/core';

/** The record that a grant belongs to; the vault keeps the grant's secrets under it. */
export interface GrantOwner {
  readonly organizationId: string;
  readonly id: string;
}

/** The result of a person's sign-in without its tokens: the columns of every table of grants. */
export interface StoredGrant {
  ownerId: string;
  organizationId: string;
  status: 'authorized' | 'gone';
  /** Changes with every set of tokens. */
  generation: string;
  /** Null if the authorization server does not say. */
  expiresAt: Date | null;
  /** When the access token is due to be refreshed. */
  refreshAt: Date | null;
  /** The running refresh, and the end of its lease. */
  refreshLease: string | null;
  refreshingUntil: Date | null;
}

/** A sign-in that a person has begun: the columns of every table of sign-ins. The vault has its secret, under the digest. */
export interface StoredSignIn {
  /** Digest of the state, which only the browser has. */
  stateDigest: string;
  organizationId: string;
  ownerId: string;
  /** The page to which the browser returns after the sign-in. */
  redirectUrl: string;
  createdAt: Date;
  expiresAt: Date;
}

export function grantProperties(ownerColumn: string) {
  return {
    ownerId: p.uuid().primary().fieldName(ownerColumn),
    organizationId: p.uuid(),
    status: p.text().$type<StoredGrant['status']>(),
    generation: p.uuid(),
    expiresAt: p.datetime(3).strictNullable(),
    refreshAt: p.datetime(3).strictNullable(),
    refreshLease: p.uuid().strictNullable(),
    refreshingUntil: p.datetime(3).strictNullable(),
  };
}

export function signInProperties(ownerColumn: string) {
  return {
    stateDigest: p.text().primary(),
    organizationId: p.uuid(),
    ownerId: p.uuid().fieldName(ownerColumn),
    redirectUrl: p.text(),
    createdAt: p.datetime(3),
    expiresAt: p.datetime(3),
  };
}
