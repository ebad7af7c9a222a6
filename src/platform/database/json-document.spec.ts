import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { defineEntity, p } from '@mikro-orm/core';
import { z } from 'zod';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { newId } from '../ids/index.js';
import { storedObject } from '../stored-json/index.js';
import { JsonDocument } from './json-document.js';
import { migration } from './schema.js';

const settings = new JsonDocument(
  'bicycles.settings',
  storedObject({ gears: z.number().default(7), bell: storedObject({ loud: z.boolean().default(true) }).prefault({}) }),
);
const bicycles = defineEntity({
  name: 'Bicycle',
  tableName: 'bicycles',
  properties: { id: p.uuid().primary(), settings: settings.property(), previous: p.text().strictNullable() },
});
const schema = {
  entities: [bicycles],
  migrations: [
    migration('2026112199_bicycles', [
      'create table bicycles (id uuid primary key, settings jsonb not null, previous text)',
    ]),
  ],
};

let open: TestDatabase;
beforeAll(async () => {
  open = await openTestDatabase([schema]);
});
afterAll(() => open.close());

async function stored(json: unknown): Promise<string> {
  const id = newId();
  await open.database.query('insert into bicycles (id, settings) values ($1::uuid, $2::text::jsonb)', [
    id,
    JSON.stringify(json),
  ]);
  return id;
}

it('adds defaults for fields that an earlier release did not write, and a read writes nothing', async () => {
  const id = await stored({ gears: 21 });
  await open.database.transaction(async ({ em }) => {
    const found = await em.findOneOrFail(bicycles, { id });
    expect(found.settings).toEqual({ gears: 21, bell: { loud: true } });
  });
  const [row] = await open.database.query<{ settings: unknown }>('select settings from bicycles where id = $1::uuid', [
    id,
  ]);
  expect(row?.settings).toEqual({ gears: 21 });
  expect(settings.read(row?.settings)).toEqual({ gears: 21, bell: { loud: true } });
});

it('keeps fields of a later release when it changes the row', async () => {
  const id = await stored({ gears: 21, bell: { loud: false, sound: 'ding' }, lights: 2 });
  await open.database.transaction(async ({ em }) => {
    const found = await em.findOneOrFail(bicycles, { id });
    found.settings = { ...found.settings, gears: 3 };
  });
  const [row] = await open.database.query<{ settings: unknown }>('select settings from bicycles where id = $1::uuid', [
    id,
  ]);
  expect(row?.settings).toEqual({ gears: 3, bell: { loud: false, sound: 'ding' }, lights: 2 });
});

it('names table, row and field of an unreadable document, and not its content', async () => {
  const id = await stored({ bell: { loud: 'secret' } });
  const message = `The stored JSON bicycles.settings of ${id} cannot be read: /bell/loud: Invalid input: expected boolean, received string`;
  await expect(open.database.read((em) => em.findOne(bicycles, { id }))).rejects.toThrow(message);
  await expect(open.database.read((em) => em.find(bicycles, { id }, { fields: ['settings'] }))).rejects.toThrow(
    message,
  );
});
