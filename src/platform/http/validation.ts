import { type ArgumentMetadata, ValidationPipe } from '@nestjs/common';
import { instanceToPlain } from 'class-transformer';
import { getMetadataStorage, validateSync, type ValidationError, ValidationTypes } from 'class-validator';
import { ValidationFailed } from '../errors/index.js';
import { isJsonObject } from './constraints.js';
import { INHERITED, plainToInstance } from './plain-to-instance.js';

/** The parts of a request that DTO classes describe, as messages name them. */
const PLACES: Readonly<Record<string, string>> = { body: 'body', query: 'querystring', param: 'params' };
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

rememberRules();

/**
 * The library goes through the rules of every class for each object that it checks. The rules of a class are complete once the class
 * is declared, and are always asked for without groups.
 */
function rememberRules(): void {
  const storage = getMetadataStorage();
  const rulesOf = storage.getTargetValidationMetadatas.bind(storage);
  const group = storage.groupByPropertyName.bind(storage);
  const known = new WeakMap<object, ReturnType<typeof rulesOf>>();
  const grouped = new WeakMap<object, ReturnType<typeof group>>();
  storage.getTargetValidationMetadatas = (type, ...options) => {
    const rules = known.get(type) ?? rulesOf(type, ...options);
    known.set(type, rules);
    return rules;
  };
  storage.groupByPropertyName = (rules) => {
    const byName = grouped.get(rules) ?? group(rules);
    grouped.set(rules, byName);
    return byName;
  };
}

/**
 * The global pipe: turns bodies and queries into their DTO classes (see `fields.ts`) and refuses unknown fields, absent ones and
 * wrong values with a message that names each field. Nothing is coerced. Nest uses the transformer of the newest pipe for all of
 * them, so create neither another `ValidationPipe` nor a `ParseArrayPipe`, which contains one.
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

  /** JSON has no gaps. */
  protected override closeArrayGaps(): void {
    return;
  }

  /** Free JSON keeps its names. `JSON.parse` never sees `__proto__`, which the limits of bodies refuse. */
  protected override stripProtoKeys(): void {
    return;
  }

  /** JSON has no binary values. */
  protected override findNestedBinaryValues(): [] {
    return [];
  }
}

/** Nest's factory of exceptions does not get the place of the value in the request. */
class Refused extends Error {
  constructor(readonly errors: readonly ValidationError[]) {
    super();
  }
}

/**
 * As the pipe, for values that no handler takes as a parameter.
 * @param place how messages name the whole, such as `body`
 * @throws ValidationFailed
 */
export function validated<T extends object>(type: new () => T, sent: unknown, place: string): T {
  const dto = plainToInstance(type, objectIn(sent, place));
  const errors = validateSync(dto, RULES);
  if (errors.length > 0) throw refusal(errors, place);
  return dto;
}

/** An absent body has no fields. */
function objectIn(sent: unknown, place: string): object {
  const fields = sent === undefined ? {} : sent;
  if (!isJsonObject(fields)) throw new ValidationFailed(`${place} must be an object`);
  return fields;
}

function refusal(errors: readonly ValidationError[], place: string): ValidationFailed {
  const problems = problemsOf(errors, place, []);
  const listed = problems.slice(0, MAX_PROBLEMS);
  return new ValidationFailed([...listed, ...(problems.length > MAX_PROBLEMS ? ['and more'] : [])].join(', '));
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
