/** Requests to one host at a time, over all processes. Contract, section 5. */
export const SLOTS_PER_HOST = 4;
/** A slot of a process that died is free again after this time; a request takes half of it at most. */
export const SLOT_LEASE_MS = 60_000;
/** Leases are renewed at this age. */
export const SLOT_RENEWAL_MS = 20_000;
/** A process keeps a slot from one request to the next, so that not every request costs statements; others wait for that long at most. */
export const SLOT_KEPT_MS = 1_000;
/** Between two looks for a free slot: doubled from the first to the last. */
export const SLOT_POLL_MS = { first: 50, last: 1_000 } as const;
/** How long a process that gave up slots for others claims none: more than the others' longest pause. */
export const SLOT_YIELD_MS = 1_200;
export const MAX_HOST_LENGTH = 300;
/** Rows of hosts that nobody asked for this long are removed. */
export const HOST_FORGOTTEN_MS = 3_600_000;
/** How often a process that crawls looks for such rows. */
export const HOST_SWEEP_MS = 600_000;

/** The name by which robots.txt files and `X-Robots-Tag` headers address the crawler: that of its user agent. */
export const PRODUCT_TOKEN = 'agent-service';

/** One page with its redirects, without the waiting for slots. */
export const PAGE_TIMEOUT_MS = 30_000;
export const PAGE_HEADERS_TIMEOUT_MS = 15_000;
export const MAX_PAGE_REDIRECTS = 10;
/** What a server may ask for in `Retry-After`. */
export const MAX_RETRY_AFTER_MS = 3_600_000;
export const RETRY_DELAY_MS = { first: 2_000, last: 300_000 } as const;

/** What RFC 9309 wants to be read at least; the rest is ignored. */
export const MAX_ROBOTS_BYTES = 500 * 1024;
/** Bytes come in pieces of up to this size; the last one may end beyond what is read. */
export const ROBOTS_READ_AHEAD_BYTES = 256 * 1024;
export const ROBOTS_TIMEOUT_MS = 20_000;
export const MAX_ROBOTS_REDIRECTS = 5;
export const ROBOTS_CACHE_MS = 300_000;
/** A site that did not tell its rules is asked again sooner. */
export const CLOSED_CACHE_MS = 30_000;
export const ROBOTS_CACHED_ORIGINS = 1_000;
/** Contract, section 5. */
export const MAX_CRAWL_DELAY_MS = 30_000;
export const MAX_ROBOTS_SITEMAPS = 50;
/** Rules with wildcards that are compared one by one; each further one counts as its part before the first wildcard. */
export const MAX_WILDCARD_RULES = 5_000;

/** One file, after decompression; the rest is ignored. */
export const MAX_SITEMAP_BYTES = 10 * 1024 * 1024;
export const MAX_SITEMAP_FILES = 50;
/** Characters of a file's address, as the protocol has it: what is left to be read is kept with the crawl. */
export const MAX_SITEMAP_ADDRESS = 2_048;
/** Indexes in indexes. */
export const MAX_SITEMAP_DEPTH = 3;
export const MAX_SITEMAP_REDIRECTS = 5;
export const SITEMAP_TIMEOUT_MS = 30_000;
/** All files of a site together, with the waiting for slots. */
export const SITEMAPS_TIMEOUT_MS = 120_000;
export const MAX_LOCATION_LENGTH = 8_192;
export const MAX_XML_DEPTH = 64;
export const MAX_XML_ATTRIBUTES = 100;
export const MAX_XML_ERRORS = 100;
/** Parsed in one go, so that the rest of the process has its turn in between. */
export const SITEMAP_SLICE_CHARACTERS = 16_384;
export const SITEMAP_SLICE_MS = 10;
