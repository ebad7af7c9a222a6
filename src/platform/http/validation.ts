import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { validateSync, type ValidationError, ValidationTypes } from 'class-validator';
import { ValidationFailed } from '../errors/index.js';
import { isJsonObject } from './constraints.js';
import { type DtoClass, INHERITED, plainToInstance } from './plain-to-instance.js';

/** The parts of a request that DTO classes describe, as messages name them. */
const PLACES: Readonly<Record<string, string>> = { body: 'body', query: 'querystring', param: 'params' };
/** The types of parameters that are no DTO: TypeScript also emits `Object` for unions, interfaces and `unknown`. */
const BUILT_IN = new Set<unknown>([String, Number, Boolean, Array, Object]);
/** The problems that a message lists, so that a body of ten megabytes of unknown fields gets a short answer. */
const MAX_PROBLEMS = 10;
const MAX_NAME_LENGTH = 100;

const RULES = {
  whitelist: true,
  forbidNonWhitelisted: true,
  forbidUnknownValues: true,
  stopAtFirstError: true,
  validationError: { target: false, value: false },
};

/**
 * The global pipe: turns bodies and queries into their DTO classes (see `fields.ts`) and refuses unknown fields, absent ones and
 * wrong values with a message that names each field. Nothing is coerced.
 */
export class RequestValidation implements PipeTransform {
  transform(sent: unknown, { type, metatype }: ArgumentMetadata): unknown {
    const place = PLACES[type];
    if (place === undefined || metatype === undefined || BUILT_IN.has(metatype)) return sent;
    return validated(metatype as DtoClass, sent, place);
  }
}

/**
 * As the pipe, for values that no handler takes as a parameter. An absent body has no fields.
 * @param place how messages name the whole, such as `body`
 * @throws ValidationFailed
 */
export function validated<T extends object>(type: new () => T, sent: unknown, place: string): T {
  const fields = sent === undefined ? {} : sent;
  if (!isJsonObject(fields)) throw new ValidationFailed(`${place} must be an object`);
  const dto = plainToInstance(type, fields) as T;
  const problems = problemsOf(validateSync(dto, RULES), place, []);
  if (problems.length === 0) return dto;
  const listed = problems.slice(0, MAX_PROBLEMS);
  throw new ValidationFailed([...listed, ...(problems.length > MAX_PROBLEMS ? ['and more'] : [])].join(', '));
}

/** Adds the problems to `found`, until there are more than a message lists. */
function problemsOf(errors: readonly ValidationError[], path: string, found: string[]): string[] {
  for (const { property, constraints = {}, children = [] } of errors) {
    if (found.length > MAX_PROBLEMS) break;
    const name = property.startsWith(INHERITED) ? property.slice(INHERITED.length) : property;
    const at = `${path}/${name.slice(0, MAX_NAME_LENGTH)}`;
    for (const [kind, text] of Object.entries(constraints)) {
      found.push(kind === ValidationTypes.WHITELIST ? `${at} is not allowed` : problem(at, property, text));
    }
    problemsOf(children, at, found);
  }
  return found;
}

function problem(at: string, property: string, text: string): string {
  if (text.startsWith('/')) return `${at}${text}`;
  // The library's own messages start with the property.
  return `${at} ${text.startsWith(`${property} `) ? text.slice(property.length + 1) : text}`;
}
