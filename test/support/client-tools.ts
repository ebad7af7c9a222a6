import type { InterruptView, ResumeEntry } from './talk.js';

/** A tool of the caller, as a run's body lists it. */
export function clientTool(name: string, parameters: object = { type: 'object', properties: {} }): object {
  return { name, description: `The caller's tool ${name}.`, parameters };
}

/** The result of a caller's call, in a run's `resume`. */
export function resultOf({ id }: Pick<InterruptView, 'id'>, result: string | object, isError?: boolean): ResumeEntry {
  return {
    interruptId: id,
    status: 'resolved',
    payload: { result, ...(isError === undefined ? {} : { isError }) },
  };
}
