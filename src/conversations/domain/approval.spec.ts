import { describe, expect, it } from '@jest/globals';
import {
  type ApprovalAnswer,
  approvalExpiry,
  type ApprovalRequest,
  type CallAnswer,
  decide,
  declinedOutput,
  hasExpired,
  needsApproval,
  openAnswers,
  type ToolEffect,
  validateAnswers,
} from './approval.js';

const request = (id: string, kind: ApprovalRequest['kind'] = 'approval') => ({
  ...{ id, kind, toolCallId: `call-${id}`, tool: 'pay', input: { id } },
});
const answer = (interruptId: string, given: CallAnswer = { type: 'approved' }): ApprovalAnswer => ({
  refersTo: { interruptId },
  answer: given,
  at: { reference: `answer to ${interruptId}`, answer: `payload for ${interruptId}` },
});
const result = (toolCallId: string): ApprovalAnswer => ({
  refersTo: { toolCallId },
  answer: { type: 'result', output: 'done', isError: false },
  at: { reference: toolCallId, answer: toolCallId },
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
    ['one is unknown', [answer('a'), answer('c')], { problem: 'unknown', at: 'answer to c' }],
    ['one is repeated', [answer('a'), answer('b'), answer('a')], { problem: 'repeated', at: 'answer to a' }],
    ['one is a result', [answer('a', result('').answer)], { problem: 'needs_approval', at: 'payload for a' }],
  ])('do not fit when %s', (_what, answers, unfit) => {
    expect(validateAnswers(requests, answers, false)).toEqual(unfit);
  });

  it('are invalid for expired requests; unknown ones stay unknown', () => {
    expect(validateAnswers(requests, [answer('b'), answer('a')], true)).toEqual({
      problem: 'expired',
      at: 'answer to b',
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
    const declined = answer('a', { type: 'declined', reason: 'too dear' });
    const changed = answer('b', { type: 'approved', input: { id: 'c' } });
    expect(decide(requests, [changed, declined])).toMatchObject([
      { toolCallId: 'call-a', tool: 'pay', input: { id: 'a' }, approved: false, reason: 'too dear' },
      { toolCallId: 'call-b', tool: 'pay', input: { id: 'b' }, changedInput: { id: 'c' }, approved: true },
    ]);
  });

  it('that are results refer to calls of the caller’s tools, by the id of the call or of the request', () => {
    const asked = [request('a', 'client_call'), request('b', 'client_call')];
    const given = { type: 'result', output: 'done', isError: false } as const;
    const answers = [result('call-a'), answer('b', given)];

    expect(validateAnswers(asked, answers, false)).toBeNull();
    expect(decide(asked, answers).map(({ approved, result: taken }) => [approved, taken?.output])).toEqual([
      [true, 'done'],
      [true, 'done'],
    ]);
    expect(validateAnswers(asked, [answer('a')], false)).toMatchObject({ problem: 'needs_result' });
    expect(validateAnswers(asked, [result('call-a')], false)).toEqual({
      ...{ problem: 'missing', interruptId: 'b', toolCallId: 'call-b' },
    });
    // A request for approval has no result, and its call is not found by the id of the call.
    expect(validateAnswers(requests, [result('call-a')], false)).toMatchObject({ problem: 'unknown' });
    expect(openAnswers(asked, [result('call-a'), result('call-z')])).toEqual([result('call-a')]);
  });

  it('are refused where nothing waits for one', () => {
    expect(validateAnswers([], [], false)).toEqual({ problem: 'nothing_open' });
  });

  it('that decline give the model the reason, if there is one', () => {
    expect(declinedOutput({ reason: 'too dear' })).toContain('too dear');
    expect(declinedOutput({ reason: null })).not.toContain('reason');
    expect(declinedOutput({ reason: '' })).not.toContain('reason');
  });
});
