import { z } from 'zod';
import { type BlockPlace, DOCUMENT_FORMATS, type ParsedDocument } from '../../parsing/domain/parsed-document.js';

/** Every field of `BlockPlace`. Held pages would lose a field that is missing here, and other pages would not. */
const place = {
  page: z.number().optional(),
  anchor: z.string().optional(),
  term: z.string().optional(),
} satisfies Record<keyof BlockPlace, z.ZodType>;
const block = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('heading'), level: z.number(), text: z.string(), ...place }),
  z.object({ kind: z.literal('text'), text: z.string(), ...place }),
  z.object({ kind: z.literal('code'), text: z.string(), ...place }),
  z.object({ kind: z.literal('table'), rows: z.array(z.array(z.string())), ...place }),
]);

/** A `PageContent` as it is stored until the first pages of an origin can be compared. */
export const heldPage = z.object({
  format: z.enum(DOCUMENT_FORMATS),
  title: z.string().nullable(),
  language: z.string().nullable(),
  blocks: z.array(block),
  canonical: z.string().nullable(),
  links: z.array(z.string()),
  etag: z.string().nullable(),
  lastModified: z.string().nullable(),
});

/** The content of a page, as the index stores it. */
export interface PageContent extends Omit<ParsedDocument, 'page'> {
  /** The page of the crawl's sites that this page names as canonical; null where it names none, or itself. */
  readonly canonical: string | null;
  /** Addresses of the linked pages. */
  readonly links: readonly string[];
  readonly etag: string | null;
  readonly lastModified: string | null;
}
