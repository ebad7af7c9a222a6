import { describe, expect, it } from '@jest/globals';
import { BASE, migration, migrationsOf } from './schema.js';

const later = migration('2026113001_two_later', ['alter table two add column later int']);
const latest = migration('2026113002_one_latest', ['alter table one add column latest int']);

describe('the migrations of contexts', () => {
  it('begin with one that creates the tables of all, in their order', () => {
    const migrations = migrationsOf([
      { entities: [], base: ['create table one ()'], migrations: [latest] },
      { entities: [], base: ['create table two ()'], migrations: [later] },
    ]);
    expect(migrations).toEqual([
      expect.objectContaining({ name: BASE, statements: ['create table one ()', 'create table two ()'] }),
      later,
      latest,
    ]);
  });

  it('have no base where no context has one', () => {
    expect(migrationsOf([{ entities: [], migrations: [later] }])).toEqual([later]);
  });
});
