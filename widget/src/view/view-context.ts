import type { Chat } from '../client/chat-state.js';
import type { Look } from './look.js';
import type { Strings } from './strings.js';

/** Shared by all parts of the view. */
export interface ViewContext {
  readonly chat: Chat;
  readonly strings: Strings;
  /** BCP 47, for dates, numbers and sizes. */
  readonly locale: string;
  readonly look: Look;
  readonly isTrustedImage: (url: URL) => boolean;
  /** Images that the visitor has loaded, so that they remain when a message is drawn again. */
  readonly shownImages: Set<string>;
  /** Announces a text to assistive technology. */
  readonly announce: (text: string) => void;
}
