import { z } from 'zod';
import type { Stored } from '../../platform/stored-json/index.js';

/** One field that a change gave another value, named and shaped as reads of the agent had it then. */
export const fieldChange = z.object({
  /** `systemPrompt`, or for a part of something larger its path: `provider.apiKey`, `sections.Tone of voice`. */
  field: z.string(),
  before: z.unknown(),
  after: z.unknown(),
});
export type FieldChange = Stored<typeof fieldChange>;

const REDACTED = '<redacted>';

/** A secret has another value; neither value is told. */
export function secretChange(field: string): FieldChange {
  return { field, before: REDACTED, after: REDACTED };
}
