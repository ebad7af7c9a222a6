import { applyDecorators, Body, Param, type PipeTransform } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiResponse } from '@nestjs/swagger';
import { ValidationFailed } from '../errors/index.js';
import { isUuid } from '../ids/index.js';
import { isJsonObject } from './constraints.js';
import { ApiUuidParam } from './docs/api-example.js';
import { oneOf, unionSchema, type Variants } from './fields.js';
import { validated } from './validation.js';

/** Handler parameter: the path parameter `name` in lower case. A value that is not a UUID is answered with 400. */
export function UuidParam(name: string): ParameterDecorator {
  const transform = (value: unknown): string => {
    if (!isUuid(value)) throw new ValidationFailed(`params/${name} must be a UUID`);
    return value.toLowerCase();
  };
  return documented(Param(name, { transform } satisfies PipeTransform), ApiUuidParam(name));
}

/** Handler parameter: a body whose `discriminator` decides its class. */
export function UnionBody(discriminator: string, variants: Variants): ParameterDecorator {
  // An absent body has no fields, as with other bodies.
  const transform = (sent: unknown = {}): object => {
    if (!isJsonObject(sent)) throw new ValidationFailed('body must be an object');
    const name = sent[discriminator];
    const names = Object.keys(variants);
    const variant = names.includes(name as string) ? variants[name as string] : undefined;
    if (variant) return validated(variant(), sent, 'body');
    throw new ValidationFailed(`body/${discriminator} ${name === undefined ? 'is required' : oneOf(names)}`);
  };
  return documented(
    Body({ transform } satisfies PipeTransform),
    ApiBody({ schema: unionSchema(discriminator, variants), required: true }),
    extraModels(variants),
  );
}

/** A response whose `discriminator` decides its class. */
export function ApiUnionResponse(status: number, discriminator: string, variants: Variants): MethodDecorator {
  const schema = unionSchema(discriminator, variants);
  return applyDecorators(ApiResponse({ status, description: '', schema }), extraModels(variants));
}

function extraModels(variants: Variants): MethodDecorator {
  return ApiExtraModels(...Object.values(variants).map((variant) => variant()));
}

/** Documents the operation of the handler that has the parameter. */
export function documentOperation(...decorators: MethodDecorator[]): ParameterDecorator {
  return (target, method) => {
    const descriptor = method === undefined ? undefined : Object.getOwnPropertyDescriptor(target, method);
    if (method !== undefined && descriptor) applyDecorators(...decorators)(target, method, descriptor);
  };
}

/** A handler parameter that also documents the operation. */
function documented(parameter: ParameterDecorator, ...decorators: MethodDecorator[]): ParameterDecorator {
  const document = documentOperation(...decorators);
  return (target, method, index) => {
    parameter(target, method, index);
    document(target, method, index);
  };
}
