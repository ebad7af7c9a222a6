import { describe, expect, it } from '@jest/globals';
import type { ChatMessage } from '../client/chat-state.js';
import { ENGLISH } from './strings.js';
import { transcriptOf } from './transcript.js';

const message = (key: string, role: ChatMessage['role'], more: Partial<ChatMessage>): ChatMessage => ({
  ...{ key, id: key, role, text: '', parts: [], attachments: [], status: 'completed', reaction: null, failure: null },
  createdAt: new Date(2026, 2, 30, 9, 5).getTime(),
  ...more,
});

describe('a transcript', () => {
  it('says who said what and when, with attachments, tools, choices and what went wrong', () => {
    const attachments = [{ name: 'plan.pdf', url: 'https://x.example/plan.pdf', contentType: 'application/pdf' }];
    const component = { id: 'c', component: 'confirm', props: {}, fallback: '**Book it?**\n- Yes\n- No' };
    const written = transcriptOf(
      [
        message('1', 'user', { text: 'Find a table', attachments }),
        message('2', 'assistant', {
          text: 'I look.\n\nHere.',
          parts: [
            { kind: 'text', text: 'I look.\n\n' },
            { kind: 'tool', tool: { id: 't', name: 'find_table', input: '{}', output: null, status: 'completed' } },
            { kind: 'text', text: 'Here.' },
            { kind: 'component', component },
          ],
        }),
        message('3', 'user', { text: 'Yes' }),
        message('4', 'assistant', { status: 'failed', failure: { code: 'run_timeout', message: '', terminal: false } }),
      ],
      { strings: ENGLISH, locale: 'en-GB', name: 'Mila' },
    );
    expect(written.replaceAll(/\(.*09:05\)/g, '(time)')).toBe(
      [
        'You (time):\nFind a table\n[plan.pdf]\n',
        'Mila (time):\nI look.\n(Used find table)\nHere.\n**Book it?**\n- Yes\n- No\n',
        'You (time):\nYes\n',
        'Mila (time):\n(There was no reply. The reply took too long. Please try again.)\n',
      ].join('\n'),
    );
    expect(written).toContain('30 March 2026');
  });
});
