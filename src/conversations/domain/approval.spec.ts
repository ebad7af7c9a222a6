import { describe, expect, it } from '@jest/globals';
import {
  approvalExpiry,
  decide,
  declinedOutput,
  hasExpired,
  needsApproval,
  type ToolEffect,
  validateAnswers,
} from './approval.js';

const request = (id: string) => ({ id, toolCallId: `call-${id}`, tool: 'pay', input: { id } });
const answer = (interruptId: string, approved = true, reason: string | null = null) => ({
  interruptId,
  approved,
  reason,
});

describe('a tool call', () => {
  const cases: readonly [ToolEffect, readonly [boolean, boolean, boolean, boolean]][] = [
    ['exempt', [false, false, false, false]],
    ['read_only', [false, false, true, true]],
    ['changes_resources', [false, true, true, true]],
  ];
  it.each(cases)('of a tool that is %s needs approval as the two settings say', (effect, expected) => {
    const flags = [
      [false, false],
      [true, false],
      [false, true],
      [true, true],
    ] as const;

    const asks = flags.map(([requireApprovalForResourceChanges, requireApprovalBeforeToolCalls]) =>
      needsApproval(effect, { requireApprovalForResourceChanges, requireApprovalBeforeToolCalls }),
    );

    expect(asks).toEqual(expected);
  });
});

describe('answers', () => {
  const requests = [request('a'), request('b')];

  it('are valid in any order when each request has one', () => {
    expect(validateAnswers(requests, [answer('b'), answer('a')], false)).toBeNull();
  });

  it.each([
    ['one is missing', [answer('a')], { problem: 'missing', interruptId: 'b' }],
    ['there are none', [], { problem: 'missing', interruptId: 'a' }],
    ['one is unknown', [answer('a'), answer('c')], { problem: 'unknown', index: 1, interruptId: 'c' }],
    ['one is repeated', [answer('a'), answer('b'), answer('a')], { problem: 'repeated', index: 2, interruptId: 'a' }],
  ])('do not fit when %s', (_what, answers, unfit) => {
    expect(validateAnswers(requests, answers, false)).toEqual(unfit);
  });

  it('are invalid for expired requests; unknown ones stay unknown', () => {
    expect(validateAnswers(requests, [answer('b'), answer('a')], true)).toEqual({
      problem: 'expired',
      index: 0,
      interruptId: 'b',
    });
    expect(validateAnswers(requests, [answer('c')], true)).toMatchObject({ problem: 'unknown' });
  });

  it('are accepted for exactly 24 hours', () => {
    const askedAt = new Date('2026-03-28T12:00:00.000Z');
    expect(approvalExpiry(askedAt).toISOString()).toBe('2026-03-29T12:00:00.000Z');
    expect(hasExpired(askedAt, new Date('2026-03-29T11:59:59.999Z'))).toBe(false);
    expect(hasExpired(askedAt, new Date('2026-03-29T12:00:00.000Z'))).toBe(true);
  });

  it('become decisions in the order of the requests, with the arguments of the calls', () => {
    expect(decide(requests, [answer('b'), answer('a', false, 'too dear')])).toEqual([
      { toolCallId: 'call-a', tool: 'pay', input: { id: 'a' }, approved: false, reason: 'too dear' },
      { toolCallId: 'call-b', tool: 'pay', input: { id: 'b' }, approved: true, reason: null },
    ]);
  });

  it('that decline give the model the reason, if there is one', () => {
    expect(declinedOutput({ reason: 'too dear' })).toContain('too dear');
    expect(declinedOutput({ reason: null })).not.toContain('reason');
    expect(declinedOutput({ reason: '' })).not.toContain('reason');
  });
});
