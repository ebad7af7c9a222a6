import { describe, expect, it } from '@jest/globals';
import type { MessagePart } from '../client/chat-state.js';
import { drawnParts } from './parts-view.js';
import { approvalsByTool } from './tool-part.js';

const text = (said: string): MessagePart => ({ kind: 'text', text: said });
const tool = (id: string, name = 'find'): MessagePart => ({
  kind: 'tool',
  tool: { id, name, input: '', output: null, status: 'running' },
});
const component = (id: string): MessagePart => ({
  kind: 'component',
  component: { id, component: 'card', props: {}, fallback: '' },
});
const keys = (...parts: MessagePart[]): string[] => drawnParts(parts).map(({ key }) => key);

describe('the drawn parts of a reply', () => {
  it('stand in their order, with keys that stay when more parts come', () => {
    const parts = [text('One'), tool('a'), text('Two'), component('c')];
    expect(keys(...parts)).toEqual(['text:0', 'tool:a', 'text:1', 'component:c']);
    expect(keys(...parts, text('Three'))).toEqual(['text:0', 'tool:a', 'text:1', 'component:c', 'text:2']);
  });

  it('do not include blank texts, calls that show a component, and repetitions', () => {
    expect(keys(text('\n'), tool('a'), tool('b', 'present_card'), component('c'), tool('a'), text('One'))).toEqual([
      'tool:a',
      'component:c',
      'text:0',
    ]);
  });
});

describe('the approvals of tool calls', () => {
  const approval = (interruptId: string, toolCallId: string | null) => ({
    interruptId,
    toolCallId,
    tool: 't',
    input: {},
  });
  const awaiting = (id: string) => ({ id, status: 'awaiting_approval' }) as const;

  it('belong to the call that they name, and else to the next one that waits', () => {
    const found = approvalsByTool(
      [awaiting('a'), { id: 'b', status: 'completed' }, awaiting('c'), awaiting('d')],
      [approval('1', null), approval('2', 'c'), approval('3', null), approval('4', null)],
    );
    expect([...found].map(([id, { interruptId }]) => `${id}:${interruptId}`).sort()).toEqual(['a:1', 'c:2', 'd:3']);
  });
});
