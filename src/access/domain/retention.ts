const DAY_MS = 86_400_000;

/** How long an organization keeps conversations without activity. */
export interface Retention {
  readonly organizationId: string;
  readonly days: number;
}

/** Content of the organization from before this time is past its retention. */
export function retainedSince({ days }: Retention, now: Date): Date {
  return new Date(now.getTime() - days * DAY_MS);
}
