import type { FormatRefusal, SchemaRefusal } from '../../domain/model-failure.js';
import type { ToolDefinition } from '../../domain/model-runtime.js';
import { errorIn } from './error-body.js';
import { MAX_QUOTED_REFUSAL } from './limits.js';

/**
 * How providers name a tool's schema by its place in the request. Anthropic: `tools.3.custom.input_schema`; OpenAI:
 * `tools[3].parameters`, and `tools[3].function.parameters` in its older API; Gemini:
 * `tools[0].function_declarations[3].parameters_json_schema`, in snake case or camel case.
 */
const PLACES = [
  /\btools[.[](\d{1,4})\]?\.(?:\w+\.)?(?:input_schema|parameters)\b/g,
  /\bfunction_?declarations\[(\d{1,4})\]\.(?:response_?)?(?:parameters|schema)/gi,
];
/** OpenAI also names the function; other servers with its API may name only the function. */
const NAMED = /\bschema for function '([\w-]{1,64})'/gi;
/** A refusal of the schemas of one or all tools that names no tool. */
const UNNAMED =
  /\binvalid_function_parameters\b|\b(?:tools?|functions?|function_?declarations?|input_schema|parameters)\b.{0,200}\bschemas?\b|\bschemas?\b.{0,200}\b(?:tools?|functions?|function_?declarations?|input_schema|parameters)\b|\bspecified schema produces a constraint\b/is;
/** Refusals of another part of the request: the response format, the tool choice, a message. */
const OF_ANOTHER_PART =
  /\bresponse_?(?:format|schema|json_?schema)\b|\btext\.format\b|\boutput_(?:format|config)\b|\bjson_schema\b|\bstructured outputs?\b|\btool_?(?:choice|config|use|calls?|results?)\b|\b(?:messages|contents|input)[.[]\d/i;
/** Refusals of the response format, and of a schema of which the provider does not say where it is. */
const OF_FORMAT =
  /\bresponse_?(?:format|schema|json_?schema|mime_?type)\b|\btext\.format\b|\boutput_(?:format|config)\b|\bjson_?schema\b|\bstructured outputs?\b|\bgrammar\b|\bschemas?\b/i;
/** Common forms of keys, which a provider may quote. */
const KEY_LIKE = /\b(?:sk|ak|pk|rk|AIza|whsec|Bearer)[-_ ]?[\w.~+/-]{12,}=*/g;

/**
 * @param body of the provider's error response, possibly truncated
 * @param secrets texts that `reason` must not contain
 * @returns the tools whose schemas the provider refused; undefined if it refused the request for another reason
 */
export function schemaRefusal(
  body: string,
  tools: readonly ToolDefinition[],
  secrets: readonly string[],
): SchemaRefusal | undefined {
  if (tools.length === 0) return undefined;
  const { message, text } = wordsIn(body);
  const places = PLACES.flatMap((place) => [...text.matchAll(place)].map(([, index]) => tools[Number(index)]?.name));
  const names = [...text.matchAll(NAMED)].map(([, name]) => tools.find((tool) => tool.name === name)?.name);
  const refused = [...new Set([...places, ...names].filter((name) => name !== undefined))];
  if (refused.length === 0 && (OF_ANOTHER_PART.test(text) || !UNNAMED.test(text))) return undefined;
  return { tools: refused, reason: quote(message, secrets) };
}

/**
 * Call only for a request with a response format, when `schemaRefusal` finds no tool that the provider names.
 * @returns undefined if the provider refused the request for another reason
 */
export function formatRefusal(body: string, secrets: readonly string[]): FormatRefusal | undefined {
  const { message, text } = wordsIn(body);
  return OF_FORMAT.test(text) ? { reason: quote(message, secrets) } : undefined;
}

function wordsIn(body: string): { readonly message: string; readonly text: string } {
  const { message, param, code, details }: Readonly<Record<string, unknown>> = errorIn(body) ?? { message: body };
  const words = [message, param, code, JSON.stringify(details)].filter((part) => typeof part === 'string');
  return { message: typeof message === 'string' ? message : '', text: words.join('\n') };
}

function quote(message: string, secrets: readonly string[]): string {
  const line = message
    .slice(0, 4 * MAX_QUOTED_REFUSAL)
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim();
  const withoutSecrets = secrets
    .filter((secret) => secret !== '')
    .reduce((text, secret) => text.replaceAll(secret, '[secret]'), line);
  return withoutSecrets.replace(KEY_LIKE, '[secret]').slice(0, MAX_QUOTED_REFUSAL).toWellFormed();
}
