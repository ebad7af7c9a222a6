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

/** The events of a call, and the error that it threw. */
export interface CallOutcome {
  readonly events: ModelEvent[];
  readonly thrown: unknown;
}

export async function callRuntime(
  runtime: ModelRuntime,
  request: ModelRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<CallOutcome> {
  const events: ModelEvent[] = [];
  try {
    for await (const event of runtime.stream(request, signal)) events.push(event);
    return { events, thrown: undefined };
  } catch (thrown) {
    return { events, thrown };
  }
}

/** The failure that a call must have ended with. */
export function failureOf(outcome: CallOutcome): ModelFailure {
  if (outcome.thrown instanceof ModelFailure) return outcome.thrown;
  throw new Error(`expected a ModelFailure, got ${String(outcome.thrown)} after ${JSON.stringify(outcome.events)}`);
}

export function textOf(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('');
}
