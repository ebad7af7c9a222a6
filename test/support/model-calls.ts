import { ModelFailure, type ModelEvent, type ModelRequest, type ModelRuntime } from '../../src/models/index.js';
import type { ProviderWire } from './provider-wire.js';

/** A request of one user message, changed as a test needs it. */
export function requestOf(wire: ProviderWire, changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: wire.model,
    options: wire.options,
    apiKey: 'own-key-1',
    system: '',
    messages: [{ role: 'user', text: 'hello' }],
    tools: [],
    ...changes,
  };
}

/** What a call said, and what it threw. */
export interface Told {
  readonly events: ModelEvent[];
  readonly thrown: unknown;
}

export async function tell(
  runtime: ModelRuntime,
  request: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<Told> {
  const events: ModelEvent[] = [];
  try {
    for await (const event of runtime.stream(request, signal)) events.push(event);
    return { events, thrown: undefined };
  } catch (thrown) {
    return { events, thrown };
  }
}

/** The failure that a call must have ended with. */
export function failureOf(told: Told): ModelFailure {
  if (told.thrown instanceof ModelFailure) return told.thrown;
  throw new Error(`expected a ModelFailure, got ${String(told.thrown)} after ${JSON.stringify(told.events)}`);
}

export function textOf(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('');
}
