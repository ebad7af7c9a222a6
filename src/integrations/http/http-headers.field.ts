import { repeatedHeader } from '../../platform/egress/index.js';
import { field, type FieldOptions, isText, oneOf, rule } from '../../platform/http/index.js';
import {
  HEADER_NAME_LENGTH,
  HEADER_VALUE_LENGTH,
  headerNameFault,
  isHeaderValue,
  MAX_HEADERS,
} from '../domain/http-header.js';

export interface SentHeaderBody {
  readonly type: 'plain_text' | 'secret';
  readonly value: string;
}

export interface VaultHeaderBody {
  readonly type: 'vault';
  readonly keyName?: string;
}

/** How a header's value is given; `vault` keeps the stored value. */
export type HeaderKind = 'plain_text' | 'secret' | 'vault';

const KEY_NAME_LENGTH = { min: 1, max: 300 } as const;
const MAX_SHOWN = 100;

/** An object of headers by their names, each of one of the kinds. */
export function HttpHeadersField(kinds: readonly HeaderKind[], options: FieldOptions): PropertyDecorator {
  const schema = {
    type: 'object',
    maxProperties: MAX_HEADERS,
    propertyNames: { minLength: HEADER_NAME_LENGTH.min, maxLength: HEADER_NAME_LENGTH.max },
    additionalProperties: { oneOf: kinds.map((kind) => ({ ...SCHEMAS[kind], additionalProperties: false })) },
  };
  const fault = (value: unknown): string | undefined => headersFault(value, kinds);
  const message = ({ value }: { value: unknown }): string => fault(value) ?? '';
  return field(
    options,
    schema,
    rule('isHeaders', (value) => fault(value) === undefined, { message }),
  );
}

const VALUE = {
  type: 'string',
  minLength: HEADER_VALUE_LENGTH.min,
  maxLength: HEADER_VALUE_LENGTH.max,
  description: 'The value that is sent, in characters that an HTTP header can carry.',
};
const KEY_NAME = {
  type: 'string',
  minLength: KEY_NAME_LENGTH.min,
  maxLength: KEY_NAME_LENGTH.max,
  description: 'As it was returned; optional.',
};

const SCHEMAS = {
  plain_text: taggedSchema('plain_text', 'Stored in clear, and returned.', { value: VALUE }, ['value']),
  secret: taggedSchema('secret', 'Kept in the vault, and never returned.', { value: VALUE }, ['value']),
  vault: {
    ...taggedSchema('vault', 'The stored secret.', { keyName: KEY_NAME }),
    description: 'Keeps the stored secret.',
  },
} satisfies Record<HeaderKind, object>;

/** The OpenAPI schema of an object with this `type`. */
export function taggedSchema(
  type: HeaderKind,
  description: string,
  properties: object,
  required: string[] = [],
): object {
  return {
    type: 'object',
    required: ['type', ...required],
    properties: { type: { type: 'string', enum: [type], description }, ...properties },
  };
}

function headersFault(value: unknown, kinds: readonly HeaderKind[]): string | undefined {
  if (!isObject(value)) return 'must be an object of headers by their names';
  const names = Object.keys(value);
  if (names.length > MAX_HEADERS) return `must have at most ${MAX_HEADERS} entries`;
  for (const name of names) {
    const fault = headerNameFault(name);
    if (fault !== undefined) return `/${name.slice(0, MAX_SHOWN)} ${fault}`;
  }
  const repeated = repeatedHeader(names);
  if (repeated !== undefined)
    return `/${repeated.slice(0, MAX_SHOWN)} must not appear twice: header names are not case-sensitive`;
  for (const name of names) {
    const fault = headerFault(value[name], kinds);
    if (fault !== undefined) return `/${name.slice(0, MAX_SHOWN)}${fault}`;
  }
  return undefined;
}

/** The error message, which continues after the header's name. */
function headerFault(header: unknown, kinds: readonly HeaderKind[]): string | undefined {
  if (!isObject(header)) return ' must be an object';
  const { type, ...rest } = header;
  if (!kinds.includes(type as HeaderKind)) return `/type ${oneOf(kinds)}`;
  const known = type === 'vault' ? 'keyName' : 'value';
  const unknown = Object.keys(rest).find((name) => name !== known);
  if (unknown !== undefined) return `/${unknown.slice(0, MAX_SHOWN)} is not allowed`;
  if (type === 'vault') {
    if (rest['keyName'] === undefined || isText(rest['keyName'], KEY_NAME_LENGTH)) return undefined;
    return `/keyName must be a string of ${KEY_NAME_LENGTH.min} to ${KEY_NAME_LENGTH.max} characters`;
  }
  if (isHeaderValue(rest['value'])) return undefined;
  const { min, max } = HEADER_VALUE_LENGTH;
  return `/value must be a string of ${min} to ${max} characters that an HTTP header can carry`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
