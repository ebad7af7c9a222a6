import type { ModelEvent } from '../domain/model-runtime.js';
import { plausibleUsage } from '../domain/model-usage.js';

/** In characters; longer than any id or model name of the providers. */
const MAX_NAME_LENGTH = 256;

/**
 * Passes a call's events on with plausible counts and names only, since the service adds up, charges and stores what a provider
 * or a gateway reports. Not a generator, which would cost each token more turns of the microtask queue.
 */
export class CheckedCall implements AsyncIterator<ModelEvent> {
  constructor(private readonly call: AsyncIterator<ModelEvent>) {}

  async next(): Promise<IteratorResult<ModelEvent>> {
    const next = await this.call.next();
    return next.done === true ? next : { done: false, value: checked(next.value) };
  }

  async return(): Promise<IteratorResult<ModelEvent>> {
    await this.call.return?.();
    return { done: true, value: undefined };
  }
}

function checked(event: ModelEvent): ModelEvent {
  if (event.type === 'usage' || event.type === 'stopped') return { ...event, usage: plausibleUsage(event.usage) };
  if (event.type !== 'response') return event;
  const { id, model } = event.response;
  return { type: 'response', response: { id: plausibleName(id), model: plausibleName(model) } };
}

/** @param name of any type and length, since nothing has checked the provider's JSON before */
function plausibleName(name: unknown): string | null {
  return typeof name === 'string' && name !== '' && name.length <= MAX_NAME_LENGTH ? name : null;
}
