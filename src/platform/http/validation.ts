import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import { ValidationFailed } from '../errors/index.js';
import type { DtoClass, Report } from './declared-field.js';
import { isJsonObject, readDto } from './read-dto.js';

/** Where a DTO stands in the request, as messages name it. */
const PLACES: Readonly<Record<string, string>> = { body: 'body', query: 'querystring', param: 'params' };
/** Parameters typed with these have no declared fields. */
const UNDECLARED: ReadonlySet<unknown> = new Set([String, Number, Boolean, Array, Object, undefined]);
/** More complaints than anybody reads; a body of ten megabytes of unknown fields gets a short answer. */
const MAX_COMPLAINTS = 10;

/**
 * The global pipe: turns bodies and queries into their DTO classes (see `fields.ts`) and refuses, with a
 * message that names each field, unknown fields, absent ones and wrong values. Nothing is coerced.
 */
export class RequestValidation implements PipeTransform {
  transform(sent: unknown, { type, metatype }: ArgumentMetadata): unknown {
    const place = PLACES[type];
    if (place === undefined || UNDECLARED.has(metatype)) return sent;
    return validated(metatype as DtoClass, sent, place);
  }
}

/**
 * @param place how messages name the whole, such as `body`
 * @throws ValidationFailed
 */
export function validated(type: DtoClass, sent: unknown, place: string): object {
  // An absent body has no fields; which of them are required is the class's matter.
  const fields = sent ?? (sent === undefined ? {} : null);
  if (!isJsonObject(fields)) throw new ValidationFailed(`${place} must be an object`);
  const complaints = new Map<string, string>();
  const report: Report = (path, complaint) => {
    if (complaints.size > MAX_COMPLAINTS) return;
    if (!complaints.has(path))
      complaints.set(path, complaint.startsWith('/') ? `${path}${complaint}` : `${path} ${complaint}`);
  };
  const dto = readDto(type, fields, place, report);
  if (complaints.size === 0) return dto;
  const shown = [...complaints.values()].slice(0, MAX_COMPLAINTS).join(', ');
  throw new ValidationFailed(complaints.size > MAX_COMPLAINTS ? `${shown}, and more` : shown);
}
