import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import {
  BASE,
  contraction,
  indexMigration,
  migration,
  migrationsOf,
  type NamedMigration,
} from '../../src/platform/database/schema.js';
import { schemas } from '../../src/schemas.js';

/** `Migrator` sets the timeouts. Types of columns are each context's choice. */
const NOT_OURS = [
  'require-lock-timeout',
  'require-statement-timeout',
  'prefer-bigint-over-int',
  'prefer-text-field',
  'prefer-robust-stmts',
  'prefer-identity',
];
/** What only a `contraction` may do. */
const CONTRACTIONS = ['ban-drop-column', 'ban-drop-table', 'renaming-column', 'renaming-table', 'ban-drop-not-null'];
const CONCURRENTLY = /\bconcurrently\b/i;
const NAMED_TABLE = '(?:if (?:not )?exists )?(?:only )?"?(\\w+)';
const CREATED = new RegExp(`\\bcreate table ${NAMED_TABLE}`, 'gi');
const CHANGED = new RegExp(`\\b(?:alter|drop) table ${NAMED_TABLE}`, 'gi');
const REFERRED_TO = /\breferences "?(\w+)/gi;
/** A transaction waits for each lock for as long as `Migrator` lets it, and holds those before it meanwhile. */
const MOST_LOCKED = 2;
const CHANGES_ROWS = /^\s*(with\b[^]*)?\b(update\s|delete\s+from|insert\s+into|truncate|merge\s)/i;

interface Finding {
  readonly rule_name: string;
}

/** More than one existing table that is changed, or more than two that are locked with those that foreign keys refer to. */
function locksManyTables({ statements }: NamedMigration): boolean {
  const text = statements.join(';').replace(/\s+/g, ' ');
  const named = (pattern: RegExp): string[] =>
    Array.from(text.matchAll(pattern), ([, table = '']) => table.toLowerCase());
  const created = new Set(named(CREATED));
  const existing = (tables: readonly string[]): Set<string> => new Set(tables.filter((table) => !created.has(table)));
  const changed = named(CHANGED);
  return existing(changed).size > 1 || existing([...changed, ...named(REFERRED_TO)]).size > MOST_LOCKED;
}

/** Names of the rules that a migration breaks: squawk's, and some of our own. */
function brokenRules(one: NamedMigration): string[] {
  const isContraction = one.oldestBuild !== BASE;
  const excluded = [...NOT_OURS, ...(isContraction ? CONTRACTIONS : [])];
  const transaction = one.index === undefined ? ['--assume-in-transaction'] : [];
  const { stdout, error } = spawnSync(
    'squawk',
    ['--reporter', 'json', '--pg-version', '15', ...transaction, '--exclude', excluded.join()],
    { input: one.statements.map((statement) => `${statement};\n`).join(''), encoding: 'utf8' },
  );
  if (error) throw error;
  const found = JSON.parse(stdout) as Finding[];
  const rows = one.statements.some((statement) => CHANGES_ROWS.test(statement)) ? ['rows-are-changed-by-jobs'] : [];
  const isConcurrent = one.index === undefined && one.statements.some((statement) => CONCURRENTLY.test(statement));
  return [
    ...new Set(found.map(({ rule_name: name }) => name)),
    ...rows,
    ...(isConcurrent ? ['indexes-are-built-by-index-migrations'] : []),
    ...(locksManyTables(one) ? ['one-table-is-changed'] : []),
  ];
}

const later = migrationsOf(schemas).filter(({ name }) => name !== BASE);

/** Of the statements of `BASE`. Databases that exist never run a changed base: only migrations change their tables. */
const BASE_DIGEST = '0c3b247cc0bc0c26ff06bcab934be452de5c656b0a5f52d2f343b896aa5797a2';

describe('the migrations', () => {
  it('begin with the base that released databases have', () => {
    const [base] = migrationsOf(schemas);
    const text = base?.statements.map((statement) => statement.replace(/\s+/g, ' ')).join(';');
    expect(
      createHash('sha256')
        .update(text ?? '')
        .digest('hex'),
    ).toBe(BASE_DIGEST);
  });

  it('neither lock a table for long, nor rewrite one, nor break the release before', () => {
    const broken = later.map((one) => [one.name, brokenRules(one)] as const).filter(([, rules]) => rules.length > 0);
    expect(broken).toEqual([]);
  });

  it('have names that begin with their date and a number, unlike any other', () => {
    for (const { name } of later) expect(name).toMatch(/^20\d{8}_[a-z]+(_[a-z0-9]+)+$/);
    expect(new Set(later.map(({ name }) => name)).size).toBe(later.length);
    expect(later.filter(({ name }) => name <= BASE)).toEqual([]);
  });

  it('refuse only builds that lack a migration of this list', () => {
    const names = migrationsOf(schemas).map(({ name }) => name);
    expect(later.filter(({ name, oldestBuild }) => !names.includes(oldestBuild) || oldestBuild >= name)).toEqual([]);
  });
});

describe('the rules for migrations', () => {
  const NAME = '2027010100_test';

  it.each([
    ['a column without a default that may not be null', 'alter table runs add column x int not null'],
    [
      'a column whose default is another one for each row',
      'alter table runs add column x uuid default gen_random_uuid()',
    ],
    ['a generated column', 'alter table runs add column x int generated always as (length(status)) stored'],
    ['another type', 'alter table runs alter column status type varchar(9)'],
    ['not null', 'alter table runs alter column status set not null'],
    ['a check of all rows', 'alter table runs add constraint c check (status <> $$x$$)'],
    [
      'a reference that all rows are checked for',
      'alter table runs add constraint f foreign key (id) references runs (id)',
    ],
    ['a unique constraint', 'alter table runs add constraint u unique (status)'],
    ['an index that blocks writes', 'create index i on runs (status)'],
    ['an index that is dropped under a lock', 'drop index runs_by_session'],
    ['an index that is built concurrently within a transaction', 'create index concurrently i on runs (status)'],
    ['a dropped column', 'alter table runs drop column status'],
    ['a renamed column', 'alter table runs rename column status to state'],
    ['a dropped table', 'drop table runs'],
    ['changed rows', `update runs set status = 'x'`],
    ['removed rows', `with old as (select 1) delete from runs`],
  ])('do not allow %s', (_what, statement) => {
    expect(brokenRules(migration(NAME, [statement]))).not.toEqual([]);
  });

  it.each([
    [
      'two tables that are changed',
      ['alter table runs add column x int', 'alter table only "threads" add column x int'],
    ],
    [
      'a new table that refers to three others',
      ['create table t (a uuid references runs (id), b uuid references threads (id), c uuid references agents (id))'],
    ],
    [
      'a changed table that refers to two others',
      [
        `alter table runs add constraint f foreign key (id) references threads (id) not valid,
           add constraint g foreign key (id) references agents (id) not valid`,
      ],
    ],
  ])('do not allow %s, since the first lock is held while the others are waited for', (_what, statements) => {
    expect(brokenRules(migration(NAME, statements))).toEqual(['one-table-is-changed']);
  });

  it.each([
    ['a column that may be null', migration(NAME, ['alter table runs add column x int'])],
    ['a constant default', migration(NAME, ['alter table runs add column x int not null default 0'])],
    ['a check of new rows', migration(NAME, ['alter table runs add constraint c check (x > 0) not valid'])],
    [
      'a new table with its index',
      migration(NAME, ['create table t (id uuid primary key)', 'create index i on t (id)']),
    ],
    [
      'a new table that refers to two others and itself, and is changed',
      migration(NAME, [
        'create table t (id uuid primary key, a uuid references runs (id), b uuid references threads (id), c uuid references t (id))',
        'alter table t add column d int',
      ]),
    ],
    [
      'a foreign key whose rows are checked later',
      migration(NAME, ['alter table runs add constraint f foreign key (id) references threads (id) not valid']),
    ],
    ['an index that does not block', indexMigration(NAME, 'i', 'on runs (status)')],
    ['to drop in a contraction', contraction(NAME, '2026120100_other', ['alter table runs drop column status'])],
  ])('allow %s', (_what, one) => {
    expect(brokenRules(one)).toEqual([]);
  });
});
