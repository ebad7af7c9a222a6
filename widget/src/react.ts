'use client';
import {
  createElement,
  type CSSProperties,
  forwardRef,
  type ForwardedRef,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
} from 'react';
import type { ChatOptions } from './client/options.js';
import type { AgentChatElement } from './element.js';
import type { AgentChatEventMap } from './element-events.js';
import type { Strings } from './view/strings.js';

type Detail<Type extends keyof AgentChatEventMap> = AgentChatEventMap[Type]['detail'];

/** The attributes of the element, by their names in camel case. */
export interface AgentChatAttributes {
  readonly mode?: 'session' | 'proxy' | 'direct';
  readonly sessionEndpoint?: string;
  readonly reactionEndpoint?: string;
  readonly historyEndpoint?: string;
  readonly baseUrl?: string;
  readonly assistantId?: string;
  readonly apiKey?: string;
  readonly storageKey?: string;
  readonly heading?: string;
  readonly subtitle?: string;
  readonly avatar?: string;
  readonly greeting?: string;
  readonly placeholder?: string;
  readonly starters?: readonly string[];
  readonly teaser?: string;
  readonly launcherIcon?: string;
  readonly launcherLabel?: string;
  readonly position?: 'start' | 'end';
  readonly layout?: 'floating' | 'inline';
  readonly theme?: 'light' | 'dark' | 'auto';
  readonly accent?: string;
  readonly radius?: string;
  readonly font?: string;
  readonly sound?: boolean;
  readonly imageOrigins?: readonly string[];
  readonly lang?: string;
  readonly dir?: 'ltr' | 'rtl' | 'auto';
}

export interface AgentChatProps extends AgentChatAttributes {
  /** Replaces the attributes of the connection. May be a new object at each rendering: an equal one does not restart the chat. */
  readonly options?: ChatOptions;
  readonly strings?: Partial<Strings>;
  /** Whether the panel is open; absent: the widget decides. A change of it opens the panel with the focus in it. */
  readonly open?: boolean;
  readonly onOpenChange?: (isOpen: boolean) => void;
  readonly onReady?: () => void;
  readonly onMessageSent?: (detail: Detail<'messageSent'>) => void;
  readonly onReplyFinished?: (detail: Detail<'replyFinished'>) => void;
  readonly onChatError?: (detail: Detail<'chatError'>) => void;
  readonly onSessionFailed?: (detail: Detail<'sessionFailed'>) => void;
  readonly id?: string;
  readonly className?: string;
  readonly style?: CSSProperties;
}

const ATTRIBUTES = [
  ...(['mode', 'sessionEndpoint', 'reactionEndpoint', 'historyEndpoint', 'baseUrl', 'assistantId', 'apiKey'] as const),
  ...(['storageKey', 'heading', 'subtitle', 'avatar', 'greeting', 'placeholder', 'teaser', 'launcherIcon'] as const),
  ...(['launcherLabel', 'position', 'layout', 'theme', 'accent', 'radius', 'font', 'lang', 'dir', 'id'] as const),
];

/**
 * Runs in the commit itself: before a later effect, an application that has just closed the panel may open it by the ref, which the effect
 * would undo. React 18 warns of a layout effect on a server.
 */
const useCommit = typeof document === 'undefined' ? useEffect : useLayoutEffect;

/**
 * `<agent-chat>` in React 18 and 19. The server renders the empty element; the browser loads the widget after the first rendering. The
 * ref is the element, with its methods from then on.
 */
export const AgentChat = forwardRef(function AgentChat(props: AgentChatProps, ref: ForwardedRef<AgentChatElement>) {
  const own = useRef<AgentChatElement>(null);
  const newest = useRef(props);
  const isFirst = useRef(true);
  useImperativeHandle<AgentChatElement | null, AgentChatElement | null>(ref, () => own.current, []);
  // Before the other effects, which read it.
  useCommit(() => {
    newest.current = props;
  });
  useCommit(() => {
    const element = own.current;
    if (!element) return undefined;
    return listen(element, () => newest.current);
  }, []);
  useCommit(() => {
    if (own.current) assign(own.current, props);
  });
  useCommit(() => {
    if (own.current) void showPanel(own.current, () => newest.current, isFirst.current);
    isFirst.current = false;
  }, [props.open]);
  return createElement('agent-chat', { ref: own, suppressHydrationWarning: true, ...attributesOf(props) });
});

function attributesOf(props: AgentChatProps): Record<string, unknown> {
  const attributes: Record<string, unknown> = { class: props.className, style: props.style };
  for (const name of ATTRIBUTES)
    attributes[name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)] = props[name];
  attributes['starters'] = props.starters?.join('\n');
  attributes['image-origins'] = props.imageOrigins?.join(' ');
  // Not `true`, which React 18 writes as a text.
  attributes['sound'] = props.sound ? '' : undefined;
  if (props.open !== undefined) attributes['restore-open'] = 'false';
  return attributes;
}

/** The element takes these also before it is defined, and does nothing about equal values. */
function assign(element: AgentChatElement, { options, strings }: AgentChatProps): void {
  element.options = options;
  element.strings = strings ?? {};
}

/** @param isFirst the page is being loaded, so the focus stays where it is */
async function showPanel(element: AgentChatElement, newest: () => AgentChatProps, isFirst: boolean): Promise<void> {
  const { open: isOpenAtFirst } = newest();
  if (isFirst && isOpenAtFirst !== undefined) element.toggleAttribute('open', isOpenAtFirst);
  if (!customElements.get('agent-chat')) await import('./index.js');
  // The visitor or the page may have changed it while the widget was loaded; an older value would be sent back and forth.
  const { open: isOpen } = newest();
  if (isFirst || isOpen === undefined || isOpen === element.hasAttribute('open')) return;
  if (isOpen) element.open();
  else element.close();
}

function listen(element: AgentChatElement, newest: () => AgentChatProps): () => void {
  const end = new AbortController();
  const on = <Type extends keyof AgentChatEventMap>(type: Type, listener: (detail: Detail<Type>) => void): void => {
    element.addEventListener(type, (event: CustomEvent<Detail<Type>>) => listener(event.detail), {
      signal: end.signal,
    });
  };
  on('ready', () => newest().onReady?.());
  on('opened', () => newest().onOpenChange?.(true));
  on('closed', () => newest().onOpenChange?.(false));
  on('messageSent', (detail) => newest().onMessageSent?.(detail));
  on('replyFinished', (detail) => newest().onReplyFinished?.(detail));
  on('chatError', (detail) => newest().onChatError?.(detail));
  on('sessionFailed', (detail) => newest().onSessionFailed?.(detail));
  return () => end.abort();
}
