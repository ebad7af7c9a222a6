import { pathOf, type Place } from './check.js';

/** The message follows the name of the schema, as in `<name>/properties/a/type must be ...`. */
export class UnusableSchema extends Error {
  constructor(place: Place, problem: string) {
    super(`${pathOf(place)} ${problem}`);
    this.name = new.target.name;
  }
}
