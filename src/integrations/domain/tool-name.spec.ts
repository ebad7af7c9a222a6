import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { modelNames, slugOf } from './tool-name.js';

const PROVIDER_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const id = '0198f5c4-0000-7000-8000-000000000001';
const other = '0198f5c4-0000-7000-8000-000000000002';

function nameOf(identity: string, tool: string): string | undefined {
  return modelNames([{ integrationId: id, identity, tool }])[0];
}

describe('the name that the model sees', () => {
  it('holds the slug and the tool', () => {
    expect(nameOf('everything', 'echo')).toBe('mcp__everything__echo');
    expect(nameOf('Our Weather (EU)', 'get_forecast')).toBe('mcp__our-weather-eu__get_forecast');
    expect(nameOf('google_sheets', 'rows.read')).toBe('mcp__google_sheets__rows_read');
    expect(nameOf('Über', 'ask')).toBe('mcp__uber__ask');
  });

  it('has a slug also where the label has no letter that could be part of one', () => {
    expect(slugOf('天気')).toMatch(/^app-[0-9a-f]{8}$/);
    expect(slugOf('天気')).not.toBe(slugOf('地図'));
  });

  it('is shortened with a hash, so that long names which begin alike stay apart', () => {
    const long = 'a'.repeat(100);
    const [first, second] = modelNames([
      { integrationId: id, identity: 'app', tool: `${long}1` },
      { integrationId: id, identity: 'app', tool: `${long}2` },
    ]);
    expect(first).toHaveLength(64);
    expect(first).not.toBe(second);
    expect(nameOf('app', `${long}1`)).toBe(first);
  });

  it('has a hash for both where two would be alike, whatever their order', () => {
    const tools = [
      { integrationId: id, identity: 'My App', tool: 'run' },
      { integrationId: other, identity: 'my-app', tool: 'run' },
      { integrationId: other, identity: 'my-app', tool: 'stop' },
    ];
    const [first, second, third] = modelNames(tools);
    expect(first).toMatch(/^mcp__my-app__run_[0-9a-f]{8}$/);
    expect(second).toMatch(/^mcp__my-app__run_[0-9a-f]{8}$/);
    expect(first).not.toBe(second);
    expect(third).toBe('mcp__my-app__stop');
    expect(modelNames(tools.toReversed())).toEqual([third, second, first]);
  });

  it('is one that every provider takes, and never shared', () => {
    const tool = fc.record({
      integrationId: fc.constantFrom(id, other),
      identity: fc.string({ unit: 'binary', maxLength: 80 }),
      tool: fc.string({ unit: 'binary', minLength: 1, maxLength: 128 }),
    });
    const tools = fc.uniqueArray(tool, { selector: (each) => `${each.integrationId}/${each.tool}` });
    fc.assert(
      fc.property(tools, (given) => {
        const names = modelNames(given);
        expect(names.every((name) => PROVIDER_NAME.test(name))).toBe(true);
        expect(new Set(names).size).toBe(given.length);
      }),
    );
  });
});
