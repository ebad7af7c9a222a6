/** One field that a change gave another value, named and shaped as reads of the agent have it. */
export interface FieldChange {
  /** `systemPrompt`, or for a part of something larger its path: `provider.apiKey`, `sections.Tone of voice`. */
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

const REDACTED = '<redacted>';

/** A secret has another value; neither value is told. */
export function secretChange(field: string): FieldChange {
  return { field, before: REDACTED, after: REDACTED };
}
