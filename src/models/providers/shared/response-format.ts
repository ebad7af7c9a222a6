import { type ResponseFormat, type RuntimeRequest, wholeSystem } from '../../domain/model-runtime.js';

/** Asks for the format in words, for a provider that does not enforce it, or demands that the prompt names it. */
export function formatInstruction(format: ResponseFormat): string {
  const instruction =
    'Your final answer must be one JSON document and nothing else: no words before or after it, and no Markdown code fence.';
  switch (format.type) {
    case 'json_object':
      return `${instruction} The document must be a JSON object.`;
    case 'json_schema':
      return [
        `${instruction} The document must fit this JSON Schema:`,
        JSON.stringify(format.schema),
        ...(format.description === undefined ? [] : [`It is: ${format.description}`]),
      ].join('\n');
    default:
      return format satisfies never;
  }
}

/** The system prompt for a provider that has a mode for JSON objects, but does not tell the model what is wanted. */
export function systemWithFormat(request: RuntimeRequest): string {
  const { responseFormat: format } = request;
  if (format?.type !== 'json_object') return wholeSystem(request);
  return [wholeSystem(request), formatInstruction(format)].filter((part) => part !== '').join('\n\n');
}
