import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type KeptNames, type NamesOfAgent, nameTools, type ServerTool, slugOf } from './tool-name.js';

const PROVIDER_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const id = '0198f5c4-0000-7000-8000-000000000001';
const other = '0198f5c4-0000-7000-8000-000000000002';

const NONE_KEPT: NamesOfAgent = new Map([
  [id, []],
  [other, []],
]);
const BEFORE_NAMES_WERE_KEPT: NamesOfAgent = new Map([
  [id, null],
  [other, null],
]);

function namesOf(tools: readonly ServerTool[], kept = NONE_KEPT): readonly string[] {
  return nameTools(kept, tools).names;
}

function nameOf(identity: string, tool: string): string | undefined {
  return namesOf([{ integrationId: id, identity, tool }])[0];
}

/** The kept names after these tools were named. */
function keptAfter(kept: NamesOfAgent, tools: readonly ServerTool[]): NamesOfAgent {
  return new Map([...kept, ...nameTools(kept, tools).changed]);
}

describe('the name that the model sees', () => {
  it('contains the slug and the tool', () => {
    expect(nameOf('everything', 'echo')).toBe('mcp__everything__echo');
    expect(nameOf('Our Weather (EU)', 'get_forecast')).toBe('mcp__our-weather-eu__get_forecast');
    expect(nameOf('google_sheets', 'rows.read')).toBe('mcp__google_sheets__rows_read');
    expect(nameOf('Über', 'ask')).toBe('mcp__uber__ask');
  });

  it('has a slug even if the label has no usable letter', () => {
    expect(slugOf('天気')).toMatch(/^app-[0-9a-f]{8}$/);
    expect(slugOf('天気')).not.toBe(slugOf('地図'));
  });

  it('is shortened with a hash, so that long names with the same beginning differ', () => {
    const long = 'a'.repeat(100);
    const [first, second] = namesOf([
      { integrationId: id, identity: 'app', tool: `${long}1` },
      { integrationId: id, identity: 'app', tool: `${long}2` },
    ]);
    expect(first).toHaveLength(64);
    expect(first).not.toBe(second);
    expect(nameOf('app', `${long}1`)).toBe(first);
  });

  const mine = { integrationId: id, identity: 'My App', tool: 'run' };
  const theirs = { integrationId: other, identity: 'my-app', tool: 'run' };

  it('stays with the first tool; the next tool of the same name gets a hash', () => {
    const [first, second] = namesOf([mine, theirs]);
    expect(first).toBe('mcp__my-app__run');
    expect(second).toMatch(/^mcp__my-app__run_[0-9a-f]{8}$/);
    const kept = keptAfter(NONE_KEPT, [theirs]);
    expect(namesOf([mine, theirs], kept)).toEqual([expect.stringMatching(/^mcp__my-app__run_[0-9a-f]{8}$/), first]);
  });

  it('stays reserved while the tool is not listed', () => {
    const kept = keptAfter(NONE_KEPT, [mine]);
    const later = keptAfter(kept, [theirs]);
    expect(namesOf([theirs, mine], later)).toEqual([expect.stringMatching(/_[0-9a-f]{8}$/), 'mcp__my-app__run']);
    expect(nameTools(later, [theirs, mine]).changed.size).toBe(0);
  });

  it('is unique within one server, even if a tool is named like another one with its hash', () => {
    const [dotted, plain] = [
      { ...mine, tool: 'rows.read' },
      { ...mine, tool: 'rows_read' },
    ];
    const [, hashed = ''] = namesOf([dotted, plain]);
    expect(hashed).toMatch(/^mcp__my-app__rows_read_[0-9a-f]{8}$/);
    const impostor = { ...mine, tool: hashed.replace('mcp__my-app__', '') };
    expect(new Set(namesOf([impostor, dotted, plain])).size).toBe(3);
  });

  it('follows the rule of earlier releases, a hash for both of two alike, for attachments without stored names', () => {
    const hashes = [mine, theirs].map(() => expect.stringMatching(/^mcp__my-app__run_[0-9a-f]{8}$/));
    expect(namesOf([mine, theirs], BEFORE_NAMES_WERE_KEPT)).toEqual(hashes);
    expect(
      namesOf(
        [theirs, mine],
        new Map<string, KeptNames | null>([
          [id, null],
          [other, []],
        ]),
      ),
    ).toEqual([hashes[0], 'mcp__my-app__run']);
  });

  it('is dropped for tools that are not offered, the oldest first, beyond a thousand of one attachment', () => {
    const many = Array.from({ length: 1_002 }, (_, index) => ({ ...mine, tool: `t${index}` }));
    const kept = keptAfter(NONE_KEPT, many.slice(0, 1_000));
    const names = nameTools(
      kept,
      [many[0], ...many.slice(1_000)].filter((tool) => tool !== undefined),
    ).changed.get(id);
    expect(names?.map(([tool]) => tool)).toEqual(
      many.map(({ tool }) => tool).filter((tool) => tool !== 't1' && tool !== 't2'),
    );
  });

  it('is valid for every provider, and unique', () => {
    const tool = fc.record({
      integrationId: fc.constantFrom(id, other),
      identity: fc.string({ unit: 'binary', maxLength: 80 }),
      tool: fc.string({ unit: 'binary', minLength: 1, maxLength: 128 }),
    });
    const tools = fc.uniqueArray(tool, { selector: (each) => `${each.integrationId}/${each.tool}` });
    fc.assert(
      fc.property(tools, (given) => {
        for (const kept of [NONE_KEPT, BEFORE_NAMES_WERE_KEPT, keptAfter(NONE_KEPT, given.slice(1))]) {
          const names = namesOf(given, kept);
          expect(names.every((name) => PROVIDER_NAME.test(name))).toBe(true);
          expect(new Set(names).size).toBe(given.length);
        }
      }),
    );
  });
});
