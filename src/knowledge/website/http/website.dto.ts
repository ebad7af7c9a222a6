import {
  EnumField,
  IntegerField,
  ObjectField,
  ObjectListField,
  StringField,
  StringListField,
  TimestampField,
  UrlField,
} from '../../../platform/http/index.js';
import { SYNC_STATES, type SyncState } from '../../index/domain/sync-status.js';
import { MAX_EXCLUSIONS, MAX_ROOTS, MAX_URL_CHARACTERS } from '../limits.js';

export class WebsiteConfigBody {
  @UrlField({
    max: MAX_URL_CHARACTERS,
    description:
      'The site is everything of its origin below its path. Stored without fragment and with a slash at the end of the path; a query stays, and selects the page that the crawl begins with.',
    example: 'https://example.com/docs/',
  })
  readonly rootUrl!: string;
  @StringListField({
    optional: true,
    max: MAX_EXCLUSIONS,
    each: { max: MAX_URL_CHARACTERS },
    description:
      'Absolute URLs on the origin of rootUrl; everything at or below each is left out. One with a query leaves out that address alone. Absent means none.',
  })
  readonly excludedUrls?: readonly string[];
}

export class SetWebsiteBody {
  @ObjectListField(() => WebsiteConfigBody, {
    max: MAX_ROOTS,
    description: 'The complete list; an empty one stops crawling.',
  })
  readonly configs!: readonly WebsiteConfigBody[];
}

export class WebsiteConfigResponse {
  @StringField({ description: 'As it is stored: without fragment, with a slash at the end of the path.' })
  readonly rootUrl!: string;
  @StringListField({ description: 'Everything at or below each is left out.' })
  readonly excludedUrls!: readonly string[];
  @StringListField({
    description: 'The root page alone: the crawl starts there and follows links. Anything else: just these pages.',
  })
  readonly selectedUrls!: readonly string[];
}

export class CrawledPagesResponse {
  @IntegerField({ description: 'Addresses that the crawl decided to fetch; at its end the sum of the others.' })
  readonly found!: number;
  @IntegerField({ description: 'Pages whose text can be found, unchanged ones included.' })
  readonly indexed!: number;
  @IntegerField({ description: 'No answer, 4xx, 5xx, too large, unreadable, without text.' })
  readonly failed!: number;
  @IntegerField({
    description: 'Other types, excluded by robots.txt or noindex, redirects, the same text as another page.',
  })
  readonly skipped!: number;
}

export class WebsiteSyncResponse {
  @EnumField(SYNC_STATES, {
    description:
      '`PARTIAL_SUCCESS`: some page failed, or the limit of pages ended the crawl. `SUSPENDED`: there is nothing to crawl.',
  })
  readonly state!: SyncState;
  @TimestampField({ nullable: true, description: 'When a crawl last ended in SUCCESS or PARTIAL_SUCCESS.' })
  readonly lastSuccessfulSyncAt!: string | null;
  @StringField({
    nullable: true,
    description: 'The error of the last crawl that ended; kept while another one is in progress.',
  })
  readonly lastError!: string | null;
  @TimestampField({ nullable: true, description: 'When the newest crawl began; null before the first.' })
  readonly startedAt!: string | null;
  @ObjectField(() => CrawledPagesResponse, {
    description: 'Counts of the newest crawl; they grow while it is in progress.',
  })
  readonly pages!: CrawledPagesResponse;
}

export class WebsiteResponse {
  @ObjectListField(() => WebsiteConfigResponse, { description: 'The sites, in the order in which they were set.' })
  readonly configs!: readonly WebsiteConfigResponse[];
  @ObjectField(() => WebsiteSyncResponse, { description: 'The state of the newest crawl.' })
  readonly sync!: WebsiteSyncResponse;
  @IntegerField({ description: 'Chunks of text in the index.' })
  readonly chunks!: number;
  @IntegerField({ description: 'Bytes of their text, in UTF-8.' })
  readonly bytes!: number;
}
