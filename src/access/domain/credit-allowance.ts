/** What happens to runs on the managed key when a month's credits are used up. */
export const CREDITS_EXHAUSTED = ['allow', 'block'] as const;

export type CreditsExhausted = (typeof CREDITS_EXHAUSTED)[number];

/** The credits that each month of an organization includes since a point in time. */
export class CreditAllowance {
  constructor(
    readonly id: string,
    readonly organizationId: string,
    readonly since: Date,
    /** Null when none are set. */
    readonly included: number | null,
  ) {}
}

/** @param allowances of one organization, oldest first. @returns the included credits in effect just before the moment */
export function includedBefore(allowances: readonly CreditAllowance[], moment: Date): number | null {
  return allowances.findLast(({ since }) => since < moment)?.included ?? null;
}
