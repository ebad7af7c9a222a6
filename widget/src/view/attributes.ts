import type { ChatOptions } from '../client/options.js';

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
    assistantId: attribute('assistant-id'),
    apiKey: attribute('api-key'),
    storageKey: attribute('storage-key'),
    baseUrl: attribute('base-url') ?? ownOrigin(),
  };
  if (all.credentials === undefined && all.assistantId === undefined && all.apiKey === undefined) return undefined;
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return given as unknown as ChatOptions;
}
