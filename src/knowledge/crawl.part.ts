import { HostSlots } from './crawl/host-slots.js';
import { HttpPageFetcher } from './crawl/http-page-fetcher.js';
import { HttpRobots } from './crawl/http-robots.js';
import { HttpSitemaps } from './crawl/http-sitemaps.js';
import { LeasedHostSlots } from './crawl/leased-host-slots.js';
import { PageFetcher } from './crawl/page-fetcher.js';
import { Robots } from './crawl/robots.js';
import { Sitemaps } from './crawl/sitemaps.js';
import type { KnowledgePart } from './knowledge-part.js';
import { HostSlotRepository } from './persistence/host-slot.repository.js';

export const crawlPart: KnowledgePart = {
  imports: [],
  controllers: [],
  providers: [
    HostSlotRepository,
    { provide: PageFetcher, useClass: HttpPageFetcher },
    { provide: Robots, useClass: HttpRobots },
    { provide: Sitemaps, useClass: HttpSitemaps },
    { provide: HostSlots, useClass: LeasedHostSlots },
  ],
};
