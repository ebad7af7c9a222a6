import { type ArgumentMetadata, ValidationPipe } from '@nestjs/common';
import { instanceToPlain } from 'class-transformer';
import { validateSync, type ValidationError, ValidationTypes } from 'class-validator';
import { ValidationFailed } from '../errors/index.js';
import { isJsonObject } from './constraints.js';
import { INHERITED, plainToInstance } from './plain-to-instance.js';

/** Where a DTO stands in the request, as messages name it. */
const PLACES: Readonly<Record<string, string>> = { body: 'body', query: 'querystring', param: 'params' };
/** More complaints than anybody reads; a body of ten megabytes of unknown fields gets a short answer. */
const MAX_COMPLAINTS = 10;
const MAX_NAME_LENGTH = 100;

const RULES = {
  whitelist: true,
  forbidNonWhitelisted: true,
  forbidUnknownValues: true,
  stopAtFirstError: true,
  validationError: { target: false, value: false },
};

/**
 * The global pipe: turns bodies and queries into their DTO classes (see `fields.ts`) and refuses, with a
 * message that names each field, unknown fields, absent ones and wrong values. Nothing is coerced.
 *
 * Nest keeps the transformer of the pipe that was made last for all of them: make no other `ValidationPipe`, nor a
 * `ParseArrayPipe`, which has one inside.
 */
export class RequestValidation extends ValidationPipe {
  constructor() {
    super({
      ...RULES,
      transform: true,
      transformerPackage: { plainToInstance, classToPlain: instanceToPlain },
      exceptionFactory: (errors: ValidationError[]) => new Refused(errors),
    });
  }

  override async transform(sent: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const place = PLACES[metadata.type];
    if (place === undefined || !this.toValidate(metadata)) return sent;
    try {
      return await super.transform(objectIn(sent, place), metadata);
    } catch (error) {
      throw error instanceof Refused ? refusal(error.errors, place) : error;
    }
  }

  protected override closeArrayGaps(): void {
    // JSON has none.
  }

  protected override stripProtoKeys(): void {
    // Free JSON keeps its names; elsewhere they are refused, `__proto__` everywhere.
  }

  /** JSON has none. */
  protected override findNestedBinaryValues(): [] {
    return [];
  }
}

/** Nest's factory of exceptions is not told where the value stands in the request. */
class Refused extends Error {
  constructor(readonly errors: readonly ValidationError[]) {
    super();
  }
}

/**
 * The same for values that no handler is given as a parameter.
 * @param place how messages name the whole, such as `body`
 * @throws ValidationFailed
 */
export function validated<T extends object>(type: new () => T, sent: unknown, place: string): T {
  const dto = plainToInstance(type, objectIn(sent, place));
  const errors = validateSync(dto, RULES);
  if (errors.length > 0) throw refusal(errors, place);
  return dto;
}

/** An absent body has no fields; which of them are required is the class's matter. */
function objectIn(sent: unknown, place: string): object {
  const fields = sent === undefined ? {} : sent;
  if (!isJsonObject(fields)) throw new ValidationFailed(`${place} must be an object`);
  return fields;
}

function refusal(errors: readonly ValidationError[], place: string): ValidationFailed {
  const all = complaints(errors, place, []);
  const shown = all.slice(0, MAX_COMPLAINTS);
  return new ValidationFailed([...shown, ...(all.length > MAX_COMPLAINTS ? ['and more'] : [])].join(', '));
}

/** Adds what the errors say to `found`, until that is more than is shown. */
function complaints(errors: readonly ValidationError[], path: string, found: string[]): string[] {
  for (const { property, constraints = {}, children = [] } of errors) {
    if (found.length > MAX_COMPLAINTS) break;
    const name = property.startsWith(INHERITED) ? property.slice(INHERITED.length) : property;
    const at = `${path}/${name.slice(0, MAX_NAME_LENGTH)}`;
    for (const [kind, text] of Object.entries(constraints)) {
      found.push(kind === ValidationTypes.WHITELIST ? `${at} is not allowed` : complaint(at, property, text));
    }
    complaints(children, at, found);
  }
  return found;
}

function complaint(at: string, property: string, text: string): string {
  if (text.startsWith('/')) return `${at}${text}`;
  // The library's own messages start with the property.
  return `${at} ${text.startsWith(`${property} `) ? text.slice(property.length + 1) : text}`;
}
