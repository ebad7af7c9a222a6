import { describe, expect, it } from '@jest/globals';
import { blockReason, isBlocking, contextsIn, type HookCall, outcomeOf, reasonIn, verdictOf } from './hook-call.js';
import type { HookEvent } from './hook-event.js';
import type { HookOutput } from './hook-output.js';

interface About {
  readonly event?: HookEvent;
  readonly failClosed?: boolean;
}

function call(output: HookOutput | null, { event = 'PreToolUse', failClosed }: About = {}): HookCall {
  const handler = {
    type: 'http',
    url: 'https://example.com/',
    ...(failClosed === undefined ? {} : { failClosed }),
  } as const;
  const placed = { event, index: 0, matcher: undefined, handler, path: `hooks.${event}[0].hooks[0]` };
  return { placed, startedAt: new Date(0), latencyMs: 1, output, error: output === null ? 'It failed.' : null };
}

describe('outcome and verdict of a call', () => {
  it.each<[string, HookCall, string, HookOutput | null]>([
    ['that said nothing', call({}), 'ok', {}],
    ['that blocks', call({ decision: 'block', reason: 'No' }), 'blocked', { decision: 'block', reason: 'No' }],
    ['that denies', call({ permissionDecision: 'deny' }), 'blocked', { permissionDecision: 'deny' }],
    ['that wants to be asked', call({ permissionDecision: 'ask' }), 'blocked', { permissionDecision: 'ask' }],
    ['that allows', call({ permissionDecision: 'allow' }), 'ok', { permissionDecision: 'allow' }],
    [
      'that allows and blocks',
      call({ permissionDecision: 'allow', decision: 'block' }),
      'blocked',
      { permissionDecision: 'allow', decision: 'block' },
    ],
    [
      'that denies for an event without permissions',
      call({ permissionDecision: 'deny' }, { event: 'Stop' }),
      'ok',
      { permissionDecision: 'deny' },
    ],
    ['that failed', call(null), 'failed', null],
    ['that failed open', call(null, { failClosed: false }), 'failed', null],
    ['that failed closed', call(null, { failClosed: true }), 'failed', { decision: 'block' }],
  ])('%s', (_what, one, outcome, verdict) => {
    expect([outcomeOf(one), verdictOf(one)]).toEqual([outcome, verdict]);
    expect(isBlocking(one)).toBe(outcome === 'blocked' || verdict?.decision === 'block');
  });
});

describe('contexts', () => {
  it('are kept in handler order, also those of handlers that block', () => {
    const calls = [
      call({ additionalContext: ['a', 'b'] }),
      call(null),
      call({ decision: 'block', additionalContext: ['c'] }),
      call({}),
    ];
    expect(contextsIn(calls)).toEqual(['a', 'b', 'c']);
  });
});

describe('the reason of a block', () => {
  it.each<[string, readonly HookCall[], string | null | undefined]>([
    ['no handler blocks', [call({}), call(null), call({ reason: 'only said' })], undefined],
    ['no handler is called', [], undefined],
    ['one blocks', [call({ reason: 'only said' }), call({ decision: 'block', reason: 'No' })], 'No'],
    [
      'the first that says why counts',
      [
        call({ decision: 'block' }),
        call({ permissionDecision: 'deny', permissionDecisionReason: 'B' }),
        call({ decision: 'block', reason: 'C' }),
      ],
      'B',
    ],
    [
      'a permission has its own',
      [call({ permissionDecision: 'deny', permissionDecisionReason: 'B', reason: 'A' })],
      'B',
    ],
    ['no handler gives a reason', [call({ decision: 'block' }), call({ decision: 'block', reason: ' ' })], null],
    ['a failure blocks', [call(null, { failClosed: true })], null],
  ])('%s', (_what, calls, expected) => {
    expect(blockReason(calls)).toBe(expected);
  });

  it('is null for a handler that failed', () => {
    expect(reasonIn(null)).toBeNull();
  });
});
