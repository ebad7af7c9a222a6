import type { Chat } from '../client/chat-state.js';
import type { Strings } from './strings.js';

/** What the parts of the view share. */
export interface ViewContext {
  readonly chat: Chat;
  readonly strings: Strings;
  readonly isTrustedImage: (url: URL) => boolean;
  /** Pictures that the visitor has asked for stay when a message is drawn anew. */
  readonly shownImages: Set<string>;
  /** Tells who cannot see it. */
  readonly announce: (text: string) => void;
}
