import type { ChatOptions } from '../client/options.js';
import type { Look } from './look.js';
import type { Strings } from './strings.js';

/** A change of one of these may start another chat. */
const CONNECTION = [
  ...['mode', 'session-endpoint', 'reaction-endpoint', 'history-endpoint', 'base-url'],
  ...['assistant-id', 'api-key', 'storage-key'],
];
/** These are applied to the chat that runs. */
const LOOKS = [
  ...['heading', 'subtitle', 'avatar', 'greeting', 'placeholder', 'starters', 'teaser', 'launcher-icon'],
  ...['launcher-label', 'position', 'theme', 'accent', 'radius', 'font', 'sound', 'image-origins', 'lang', 'dir'],
  'layout',
];

export const OBSERVED: readonly string[] = [...CONNECTION, ...LOOKS, 'open'];

/** The origin of this module, which is the service if that serves the widget. */
function ownOrigin(): string | undefined {
  const { protocol, origin } = new URL(import.meta.url);
  return protocol === 'https:' || protocol === 'http:' ? origin : undefined;
}

/**
 * The options in the attributes of an element, unchecked: `checkOptions` reports errors.
 * @returns undefined for an element without attributes, which waits for its `options`
 */
export function optionsOf(element: Element): ChatOptions | undefined {
  const attribute = (name: string): string | undefined => element.getAttribute(name) ?? undefined;
  const all = {
    mode: attribute('mode') ?? 'session',
    credentials: attribute('session-endpoint'),
    reactions: attribute('reaction-endpoint'),
    conversations: attribute('history-endpoint'),
    assistantId: attribute('assistant-id'),
    apiKey: attribute('api-key'),
    storageKey: attribute('storage-key'),
    baseUrl: attribute('base-url') ?? ownOrigin(),
  };
  if (all.credentials === undefined && all.assistantId === undefined && all.apiKey === undefined) return undefined;
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return given as unknown as ChatOptions;
}

/** Whether two values of a page are equal in depth. Any two functions are: pages make new ones at each rendering. */
export function isSame(one: unknown, other: unknown): boolean {
  if (typeof one === 'function' && typeof other === 'function') return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return Object.is(one, other);
  const [names, others] = [Object.entries(one), new Map(Object.entries(other))];
  return (
    names.length === others.size && names.every(([name, value]) => others.has(name) && isSame(value, others.get(name)))
  );
}

/** The looks in the attributes of an element. */
export function lookOf(element: Element, strings: Strings): Look {
  const text = (name: string): string | null => element.getAttribute(name);
  /** An empty attribute is as good as none where nothing can be shown for it. */
  const some = (name: string): string | null => {
    const value = text(name)?.trim() ?? '';
    return value === '' ? null : value;
  };
  return {
    name: some('heading') ?? strings.heading,
    subtitle: some('subtitle'),
    avatar: some('avatar'),
    greeting: text('greeting') ?? strings.greeting,
    placeholder: text('placeholder') ?? strings.placeholder,
    starters: parts(text('starters'), /[|\n]/),
    teaser: some('teaser'),
    launcherIcon: some('launcher-icon'),
    launcherLabel: some('launcher-label'),
    hasSound: element.hasAttribute('sound'),
    imageOrigins: new Set(parts(text('image-origins'), /\s/)),
  };
}

function parts(text: string | null, separator: RegExp): string[] {
  return (text ?? '')
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
