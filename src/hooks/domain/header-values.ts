import { HOOK_EVENTS, type HookEvent } from './hook-event.js';
import {
  allHandlers,
  handlersOf,
  type HooksDocument,
  type HttpHandler,
  isHttp,
  type PlacedHandler,
  REDACTED,
} from './hooks-document.js';

type Values = Readonly<Record<string, string>>;

/** Values of headers by their names, of each handler of an event; null for one without headers. */
export type HeaderValues = Readonly<Partial<Record<HookEvent, readonly (Values | null)[]>>>;

/** A document with the values of its headers: those that were sent (`REDACTED` where the stored one stays), or are stored. */
export interface HooksWithHeaders {
  readonly document: HooksDocument;
  readonly headers: HeaderValues;
}

/** What a header is sent to, and as what it is stored. */
interface StoredHeader {
  readonly event: HookEvent;
  readonly url: string;
  readonly name: string;
  readonly value: string;
}

/** What stands in the document itself. */
export function headersIn(document: HooksDocument): HeaderValues {
  return mapHttp(document, ({ handler }) => handler.headers ?? null);
}

/** Whether any handler sends headers. */
export function hasHeaders(document: HooksDocument): boolean {
  return allHandlers(document).some(
    ({ handler }) => handler.type === 'http' && Object.keys(handler.headers ?? {}).length > 0,
  );
}

/**
 * The values that the headers of `wanted` have from now on: those that were sent, and for `REDACTED` the stored one of that
 * URL and name. Several handlers may send one header to one URL with different values: that of the same event counts first,
 * the first one's the first, the second one's the second.
 * @param missing is called for a header without a stored value
 * @throws what `missing` throws
 */
export function keptHeaders(
  wanted: HooksWithHeaders,
  stored: HooksWithHeaders,
  missing: (path: string) => never,
): HeaderValues {
  const known = storedHeaders(stored);
  const uses = new Map<string, number>();
  return mapHttp(wanted.document, (placed) => {
    const sent = wanted.headers[placed.event]?.[placed.index];
    if (!sent) return null;
    const entries = Object.entries(sent).map(([name, value]) => {
      const kept = keptValue(placed, name.toLowerCase());
      if (value !== REDACTED) return [name, value] as const;
      return [name, kept ?? missing(`${placed.path}.headers.${name}`)] as const;
    });
    return Object.fromEntries(entries);
  });

  function keptValue({ event, handler: { url } }: PlacedHandler<HttpHandler>, name: string): string | undefined {
    const key = `${event} ${name} ${url}`;
    const use = uses.get(key) ?? 0;
    uses.set(key, use + 1);
    const all = known.filter((header) => header.url === url && header.name === name);
    const ofEvent = all.filter((header) => header.event === event);
    return (ofEvent[use] ?? ofEvent[0] ?? all[0])?.value;
  }
}

function storedHeaders({ document, headers }: HooksWithHeaders): StoredHeader[] {
  return allHandlers(document)
    .filter(isHttp)
    .flatMap(({ event, index, handler: { url } }) =>
      Object.entries(headers[event]?.[index] ?? {}).map(([name, value]) => ({
        event,
        url,
        name: name.toLowerCase(),
        value,
      })),
    );
}

function mapHttp(
  document: HooksDocument,
  valuesOf: (placed: PlacedHandler<HttpHandler>) => Values | null,
): HeaderValues {
  const events = HOOK_EVENTS.map((event) => {
    return [event, handlersOf(document, event).map((placed) => (isHttp(placed) ? valuesOf(placed) : null))] as const;
  });
  return Object.fromEntries(events);
}
