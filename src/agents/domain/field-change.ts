import { z } from 'zod';
import type { Stored } from '../../platform/stored-json/index.js';

/** One field whose value a change replaced, with the name and shape that responses had at that time. */
export const fieldChange = z.object({
  /** The field, or a path: `systemPrompt`, `provider.apiKey`, `sections.Tone of voice`. */
  field: z.string(),
  before: z.unknown(),
  after: z.unknown(),
});
export type FieldChange = Stored<typeof fieldChange>;

const REDACTED = '<redacted>';

/** A secret was replaced; the history contains neither value. */
export function secretChange(field: string): FieldChange {
  return { field, before: REDACTED, after: REDACTED };
}
