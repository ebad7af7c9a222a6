import { z } from 'zod';
import { DOCUMENT_FORMATS, type ParsedDocument } from '../../parsing/domain/parsed-document.js';

const page = z.number().optional();
const block = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('heading'), level: z.number(), text: z.string(), page }),
  z.object({ kind: z.literal('text'), text: z.string(), page }),
  z.object({ kind: z.literal('code'), text: z.string(), page }),
  z.object({ kind: z.literal('table'), rows: z.array(z.array(z.string())), page }),
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
