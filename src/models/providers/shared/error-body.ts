import { isJsonObject } from '../../domain/json-object.js';

type Fields = Readonly<Record<string, unknown>>;

/** The form of providers' error codes, which matches no sentence. */
const CODE = /^[A-Za-z][A-Za-z0-9_.-]{1,63}$/;

/** The error in the JSON body of a response; undefined for a body that is not JSON, such as a truncated one. */
export function errorIn(body: string): Fields | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return undefined;
  }
  // Gemini may send a list.
  const [first] = [parsed].flat<unknown[]>();
  const fields: Fields = isJsonObject(first) ? first : {};
  // Some gateways send `null`.
  const error = fields['error'] ?? fields;
  return isJsonObject(error) ? error : {};
}

/** The codes in a provider's error, for the log: its sentences may quote prompts and keys. @param text the body, or an SDK's message with it */
export function codesIn(text: string): string {
  const { type, code, status } = errorIn(text.slice(Math.max(0, text.search(/[[{]/)))) ?? {};
  return codesOf(type, code, status);
}

export function codesOf(...values: readonly unknown[]): string {
  const codes = values.filter((value) => typeof value === 'string' && CODE.test(value));
  return [...new Set(codes)].join(' ');
}
