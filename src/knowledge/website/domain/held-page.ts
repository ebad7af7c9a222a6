import { z } from 'zod';
import { type BlockPlace, DOCUMENT_FORMATS, type ParsedDocument } from '../../parsing/domain/parsed-document.js';

/** All of it: what is left out here is gone from the pages of a sample, and from no others. */
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

/** What was read of a page, in the words of `PageContent`; stored until its site's sample is complete. */
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

/** What a visit read of a page and the index is to have. */
export interface PageContent extends Omit<ParsedDocument, 'page'> {
  /** The address within the crawl's sites that the page says it is a copy of; null where it names none, or itself. */
  readonly canonical: string | null;
  /** Addresses of the pages that it leads to. */
  readonly links: readonly string[];
  readonly etag: string | null;
  readonly lastModified: string | null;
}
