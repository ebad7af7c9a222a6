import { ValidationFailed } from '../../platform/errors/index.js';

const MAX_NAME = 255;
const MAX_EMAIL = 254;
const EMAIL = /^[^\s@]+@[^\s@]+$/u;

/** @throws ValidationFailed unless the name has 1 to 255 characters */
export function checkName(name: string): string {
  const length = [...name].length;
  if (length < 1 || length > MAX_NAME) throw new ValidationFailed(`name: must have 1 to ${MAX_NAME} characters`);
  return name;
}

/** @returns the address in lower case, so that a person is one member however the address is written */
export function checkEmail(email: string): string {
  if (email.length > MAX_EMAIL || !EMAIL.test(email)) throw new ValidationFailed('email: must be an e-mail address');
  return email.toLowerCase();
}

/** @throws ValidationFailed unless the value is one of the names */
export function checkOneOf<Name extends string>(field: string, names: readonly Name[], value: string): Name {
  const found = names.find((name) => name === value);
  if (found === undefined) throw new ValidationFailed(`${field}: must be one of ${names.join(', ')}`);
  return found;
}
