import { AccessModule } from '../../access/index.js';
import { AgentsModule } from '../../agents/index.js';
import { JobsModule } from '../../platform/jobs/index.js';
import { IndexModule } from '../index/index.module.js';
import { ParsingModule } from '../parsing/parsing.module.js';
import { AskForKnownPages } from './application/ask-for-known-pages.js';
import { CrawlStep } from './application/crawl-step.js';
import { EndCrawl } from './application/end-crawl.js';
import { HostSlots } from './application/host-slots.js';
import { HttpPageFetcher } from './application/http-page-fetcher.js';
import { HttpRobots } from './application/http-robots.js';
import { HttpSitemaps } from './application/http-sitemaps.js';
import { KeepCrawls } from './application/keep-crawls.js';
import { LeasedHostSlots } from './application/leased-host-slots.js';
import { OpenSites } from './application/open-sites.js';
import { PageFetcher } from './application/page-fetcher.js';
import { ReadWebsite } from './application/read-website.js';
import { RecordVisits } from './application/record-visits.js';
import { RemoveLeftBehindWebsites } from './application/remove-left-behind-websites.js';
import { RemovePages } from './application/remove-pages.js';
import { Robots } from './application/robots.js';
import { SetWebsite } from './application/set-website.js';
import { Sitemaps } from './application/sitemaps.js';
import { StartCrawl } from './application/start-crawl.js';
import { VisitPage } from './application/visit-page.js';
import { WebsiteController } from './http/website.controller.js';
import { crawlStep } from './jobs/crawl-step.job.js';
import { keepCrawls, RunKeepCrawls } from './jobs/keep-crawls.job.js';
import { RunCrawlStep } from './jobs/run-crawl-step.js';
import { CrawlPages } from './persistence/crawl-pages.repository.js';
import { CrawlSchedule } from './persistence/crawl-schedule.repository.js';
import { EndedCrawls } from './persistence/ended-crawls.repository.js';
import { HostSlotRepository } from './persistence/host-slot.repository.js';
import { WebsiteRepository } from './persistence/website.repository.js';
import { Module } from '@nestjs/common';

const records = [WebsiteRepository, CrawlPages, EndedCrawls, CrawlSchedule, HostSlotRepository];
const requests = [
  { provide: PageFetcher, useClass: HttpPageFetcher },
  { provide: Robots, useClass: HttpRobots },
  { provide: Sitemaps, useClass: HttpSitemaps },
  { provide: HostSlots, useClass: LeasedHostSlots },
];
const settings = [ReadWebsite, SetWebsite, StartCrawl, KeepCrawls, RemoveLeftBehindWebsites];
const crawl = [CrawlStep, OpenSites, VisitPage, RecordVisits, RemovePages, AskForKnownPages, EndCrawl];
const processors = [RunCrawlStep, RunKeepCrawls];

/** Websites that agents know: their settings and their crawls. */
@Module({
  imports: [AccessModule, AgentsModule, IndexModule, ParsingModule, JobsModule.define(crawlStep, keepCrawls)],
  controllers: [WebsiteController],
  providers: [...records, ...requests, ...settings, ...crawl, ...processors],
})
export class WebsiteModule {}
