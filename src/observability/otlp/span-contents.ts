import { boundedValue } from '../domain/bounded-steps.js';
import { PUSHED_CONTENT_BYTES } from '../limits.js';

/** Content as the text of an attribute: itself if it is text, else its JSON. */
export function contentText(value: unknown): string {
  const { value: bounded } = boundedValue(value, PUSHED_CONTENT_BYTES);
  return typeof bounded === 'string' ? bounded : JSON.stringify(bounded);
}

/** `gen_ai.input.messages` with the last message. @param last as a model step stores it: text, or the result of a tool */
export function inputMessages(last: unknown): string {
  const { toolCallId: id, output } = fieldsOf(last);
  if (typeof id !== 'string') return JSON.stringify([{ role: 'user', parts: [textPart(last)] }]);
  return JSON.stringify([{ role: 'tool', parts: [{ type: 'tool_call_response', id, response: contentText(output) }] }]);
}

/** `gen_ai.output.messages` with the response of the model. */
export function outputMessages(text: unknown, toolCalls: readonly ToolCall[], finishReason: string): string {
  const parts = [
    ...(text === '' ? [] : [textPart(text)]),
    ...toolCalls.map(({ id, name, input }) => ({ type: 'tool_call', id, name, arguments: input })),
  ];
  return JSON.stringify([{ role: 'assistant', parts, finish_reason: finishReason }]);
}

function textPart(value: unknown): object {
  return { type: 'text', content: contentText(value) };
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** The tool calls in the output of a model step; none if the output was too large to store. */
export function toolCallsOf(output: unknown): ToolCall[] {
  const { toolCalls } = fieldsOf(output);
  if (!Array.isArray(toolCalls)) return [];
  return toolCalls
    .map(fieldsOf)
    .flatMap(({ id, name, input }) =>
      typeof id === 'string' && typeof name === 'string' ? [{ id, name, input }] : [],
    );
}

/** Empty for a value without fields. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
