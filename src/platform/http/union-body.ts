import { applyDecorators, Body, type PipeTransform } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiResponse } from '@nestjs/swagger';
import { ValidationFailed } from '../errors/index.js';
import { isJsonObject } from './constraints.js';
import { oneOf, unionSchema, type Variants } from './fields.js';
import type { DtoClass } from './plain-to-instance.js';
import { validated } from './validation.js';

/** Handler parameter: a body whose `discriminator` decides which class it is. */
export function UnionBody(discriminator: string, variants: Variants): ParameterDecorator {
  const bind = Body(new VariantOfBody(discriminator, variants));
  return (target, method, index) => {
    bind(target, method, index);
    if (method === undefined) return;
    const descriptor = Object.getOwnPropertyDescriptor(target, method);
    if (!descriptor) return;
    ApiBody({ schema: unionSchema(discriminator, variants), required: true })(target, method, descriptor);
    ApiExtraModels(...classesOf(variants))(target, method, descriptor);
  };
}

/** An answer whose `discriminator` tells which class it is. */
export function ApiUnionResponse(status: number, discriminator: string, variants: Variants): MethodDecorator {
  return applyDecorators(
    ApiResponse({ status, description: '', schema: unionSchema(discriminator, variants) }),
    ApiExtraModels(...classesOf(variants)),
  );
}

function classesOf(variants: Variants): DtoClass[] {
  return Object.values(variants).map((variant) => variant());
}

class VariantOfBody implements PipeTransform {
  constructor(
    private readonly discriminator: string,
    private readonly variants: Variants,
  ) {}

  /** An absent body has no fields, as with other bodies. */
  transform(sent: unknown = {}): object {
    if (!isJsonObject(sent)) throw new ValidationFailed('body must be an object');
    const name = sent[this.discriminator];
    const names = Object.keys(this.variants);
    const variant = names.includes(name as string) ? this.variants[name as string] : undefined;
    if (variant) return validated(variant(), sent, 'body');
    const wanted = name === undefined ? 'is required' : oneOf(names);
    throw new ValidationFailed(`body/${this.discriminator} ${wanted}`);
  }
}
