// Written by hand, because a compiled source file cannot add to the namespace of React's elements.
import type { DetailedHTMLProps, HTMLAttributes } from 'react';
import type { AgentChatElement } from './dist/types/index.js';

export * from './dist/types/react.js';

type Text =
  | 'mode'
  | 'session-endpoint'
  | 'reaction-endpoint'
  | 'history-endpoint'
  | 'base-url'
  | 'assistant-id'
  | 'api-key'
  | 'storage-key'
  | 'restore-open'
  | 'heading'
  | 'subtitle'
  | 'avatar'
  | 'greeting'
  | 'placeholder'
  | 'starters'
  | 'teaser'
  | 'launcher-icon'
  | 'launcher-label'
  | 'position'
  | 'layout'
  | 'theme'
  | 'accent'
  | 'radius'
  | 'font'
  | 'sound'
  | 'image-origins';

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'agent-chat': DetailedHTMLProps<Omit<HTMLAttributes<AgentChatElement>, Text>, AgentChatElement> &
        Partial<Record<Text, string>> & { open?: boolean } & Partial<Pick<AgentChatElement, 'options' | 'strings'>>;
    }
  }
}
