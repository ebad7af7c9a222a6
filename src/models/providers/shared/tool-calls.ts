import { newId } from '../../../platform/ids/index.js';
import { isJsonObject, isNestedTooDeeply } from '../../domain/json-object.js';
import type { AssistantMessage, ModelToolCall } from '../../domain/model-runtime.js';
import { MAX_MALFORMED_INPUT } from './limits.js';

export type ToolInput = Pick<ModelToolCall, 'input' | 'malformedInput'>;

/** The input of a tool call in a complete response, from the text that the model wrote. Blank text means no arguments. */
export function toolInputOf(json: string): ToolInput {
  if (json.trim() === '') return { input: {} };
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return malformed(json);
  }
  return isJsonObject(value) && !isNestedTooDeeply(value) ? { input: value } : malformed(json);
}

/** @param written text that is not a JSON object, or one that is nested too deeply; stored up to `MAX_MALFORMED_INPUT` */
export function malformed(written: string): Required<ToolInput> {
  const isLong = written.length > MAX_MALFORMED_INPUT;
  return {
    input: {},
    malformedInput: isLong ? `${written.slice(0, MAX_MALFORMED_INPUT).toWellFormed()}…` : written.toWellFormed(),
  };
}

/** The list in the state of an earlier response; undefined if another model wrote it: this one refuses its signatures and encrypted reasoning. */
export function storedList({ state }: AssistantMessage, provider: string, model: string, list: string): unknown {
  const data = state?.provider === provider ? state.data : undefined;
  return isJsonObject(data) && data['model'] === model && Array.isArray(data[list]) ? data[list] : undefined;
}

/** Makes the call ids of one response unique: of two calls with the same id only one would get a result. */
export class UniqueIds {
  private readonly taken = new Set<string>();

  take(id: string): string {
    const unique = this.taken.has(id) ? newId() : id;
    this.taken.add(unique);
    return unique;
  }
}
