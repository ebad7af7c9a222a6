import type { ModelEvent } from '../domain/model-runtime.js';
import { plausibleUsage } from '../domain/model-usage.js';

/** In characters; longer than any id or model name of the providers. */
const MAX_NAME_LENGTH = 256;

/**
 * The events of a call with implausible token counts and names replaced by null: the service sums up, charges and stores what a
 * provider or gateway reports.
 */
export async function* plausibleEvents(events: AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent> {
  for await (const event of events) yield plausible(event);
}

function plausible(event: ModelEvent): ModelEvent {
  if (event.type === 'usage' || event.type === 'stopped') return { ...event, usage: plausibleUsage(event.usage) };
  if (event.type !== 'response') return event;
  const { id, model } = event.response;
  return { type: 'response', response: { id: plausibleName(id), model: plausibleName(model) } };
}

/** @param name of any type and length: the JSON of the provider has not been checked */
function plausibleName(name: unknown): string | null {
  return typeof name === 'string' && name !== '' && name.length <= MAX_NAME_LENGTH ? name : null;
}
