/** What a word means in an organization. */
export interface Term {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly definition: string;
  /** The definition in one sentence; null until the job has made it. */
  readonly summary: string | null;
}

export const NAME_LENGTH = { min: 1, max: 100 } as const;
export const DEFINITION_LENGTH = { min: 1, max: 10_000 } as const;

export function summaryOf(definition: string): string {
  return /^.*?[.!?](?=\s|$)/su.exec(definition)?.[0] ?? definition;
}
