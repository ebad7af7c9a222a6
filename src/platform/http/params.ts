import { Param, type PipeTransform } from '@nestjs/common';
import { ValidationFailed } from '../errors/index.js';
import { isUuid } from '../ids/index.js';
import { ApiUuidParam } from './docs/api-example.js';

/** Handler parameter: the path parameter `name`, a UUID, in lower case. Anything else answers 400 naming it. */
export function UuidParam(name: string): ParameterDecorator {
  const bind = Param(name, new UuidOfPath(name));
  return (target, method, index) => {
    bind(target, method, index);
    if (method === undefined) return;
    const descriptor = Object.getOwnPropertyDescriptor(target, method);
    if (descriptor) ApiUuidParam(name)(target, method, descriptor);
  };
}

class UuidOfPath implements PipeTransform {
  constructor(private readonly name: string) {}

  transform(value: unknown): string {
    if (!isUuid(value)) throw new ValidationFailed(`params/${this.name} must be a UUID`);
    return value.toLowerCase();
  }
}
