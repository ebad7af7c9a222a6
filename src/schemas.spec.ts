import { expect, it } from '@jest/globals';
import { contexts, schemasOf } from './app.module.js';
import { schemas } from './schemas.js';

it('the command line has the tables of every context', () => {
  expect(schemas).toEqual(schemasOf(contexts));
});
