import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { AgentsModule } from '../../agents/index.js';
import { JobsModule } from '../../platform/jobs/index.js';
import { IndexModule } from '../index/index.module.js';
import { ParsingModule } from '../parsing/parsing.module.js';
import { CrawlHost } from './application/crawl-host.js';
import { CrawlStep } from './application/crawl-step.js';
import { HttpPageFetcher } from './application/http-page-fetcher.js';
import { HttpRobots } from './application/http-robots.js';
import { HttpSitemaps } from './application/http-sitemaps.js';
import { ReadSitemaps } from './application/read-sitemaps.js';
import { ReadWebsite } from './application/read-website.js';
import { RecordVisits } from './application/record-visits.js';
import { RemovePages } from './application/remove-pages.js';
import { RemoveWebsitesOfDeletedAgents } from './application/remove-websites-of-deleted-agents.js';
import { SetWebsite } from './application/set-website.js';
import { StartCrawl } from './application/start-crawl.js';
import { VisitPage } from './application/visit-page.js';
import { WebsiteController } from './http/website.controller.js';
import { CrawlHostProcessor, CrawlStepProcessor } from './jobs/run-crawls.job.js';
import { crawlHost, crawlStep } from './jobs/crawl.jobs.js';
import { ScheduleCrawls, scheduleCrawls } from './jobs/schedule-crawls.job.js';
import { CrawlOrigins } from './persistence/crawl-origins.repository.js';
import { CrawlPages } from './persistence/crawl-pages.repository.js';
import { HostLeases } from './persistence/host-leases.repository.js';
import { WebsiteRepository } from './persistence/website.repository.js';

const repositories = [WebsiteRepository, CrawlPages, CrawlOrigins, HostLeases];
const requests = [HttpPageFetcher, HttpRobots, HttpSitemaps];
const settings = [ReadWebsite, SetWebsite, StartCrawl, RemoveWebsitesOfDeletedAgents];
const crawl = [CrawlStep, CrawlHost, ReadSitemaps, VisitPage, RecordVisits, RemovePages];
const processors = [CrawlStepProcessor, CrawlHostProcessor, ScheduleCrawls];

/** The websites of agents: their settings and their crawls. */
@Module({
  imports: [
    AccessModule,
    AgentsModule,
    IndexModule,
    ParsingModule,
    JobsModule.define(crawlStep, crawlHost, scheduleCrawls),
  ],
  controllers: [WebsiteController],
  providers: [...repositories, ...requests, ...settings, ...crawl, ...processors],
})
export class WebsiteModule {}
