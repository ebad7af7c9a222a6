/** How long the previous secret signs after a rotation. Contract, sections 8 and 15. */
const PREVIOUS_SECRET_MS = 24 * 60 * 60_000;

/** A signing secret and the one before it, as the vault has them. */
export interface SigningSecret {
  readonly current: string;
  /** Null before the first rotation. */
  readonly previous: { readonly secret: string; /** ISO 8601. */ readonly until: string } | null;
}

/** @param former null for the first secret */
export function rotatedSecret(former: SigningSecret | null, secret: string, at: Date): SigningSecret {
  const until = new Date(at.getTime() + PREVIOUS_SECRET_MS).toISOString();
  return { current: secret, previous: former && { secret: former.current, until } };
}

/** The secrets that sign at this time: after a rotation both, until the previous one expires. */
export function validSecrets({ current, previous }: SigningSecret, at: Date): string[] {
  return previous !== null && at < new Date(previous.until) ? [current, previous.secret] : [current];
}
