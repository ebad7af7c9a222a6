import { describe, expect, it } from '@jest/globals';
import type { Approval, ChatMessage, ChatStatus } from '../client/chat-state.js';
import { Announcements } from './announcements.js';

const reply = (key: string, status: ChatMessage['status'] = 'completed'): ChatMessage => ({
  ...{ key, id: key, role: 'assistant', text: key, parts: [], attachments: [], status, reaction: null, failure: null },
  createdAt: 0,
});

/** What is said after each of the states. */
function said(...states: [ChatStatus, ChatMessage[], Approval[]?][]): string[] {
  const announcements = new Announcements();
  const none: Approval[] = [];
  return states.map(([status, messages, approvals = none]) => {
    const next = announcements.next({ status, messages, approvals });
    return [...next.messages.map(({ key }) => key), ...next.approvals.map(({ tool }) => `${tool}?`)].join(' ');
  });
}

describe('announcements', () => {
  it('say a reply once, when it has ended', () => {
    const done = [reply('One')];
    expect(
      said(['ready', []], ['responding', [reply('One', 'streaming')]], ['responding', done], ['ready', done]),
    ).toEqual(['', '', 'One', '']);
  });

  it('say a reply that came and ended between two states', () => {
    expect(said(['responding', []], ['ready', [reply('One')]])).toEqual(['', 'One']);
  });

  it('do not say what was restored, but the reply after it', () => {
    const old = [reply('One'), reply('Two')];
    expect(
      said(
        ['connecting', []],
        ['responding', old],
        ['ready', [...old, reply('Three')]],
        ['idle', []],
        ['connecting', []],
        ['ready', [reply('Other')]],
      ),
    ).toEqual(['', '', 'Three', '', '', '']);
  });

  it('say a reply and the approvals that it needs together', () => {
    const approval = { interruptId: 'i', toolCallId: 't', tool: 'Pay', input: {} };
    expect(said(['responding', []], ['awaiting_approval', [reply('One')], [approval]])).toEqual(['', 'One Pay?']);
  });

  it('say that a reply failed again after another try with the same key', () => {
    const failed = [reply('One', 'failed')];
    expect(
      said(['responding', []], ['ready', failed], ['responding', [reply('One', 'streaming')]], ['ready', failed]),
    ).toEqual(['', 'One', '', 'One']);
  });
});
