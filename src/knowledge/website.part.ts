import { JobsModule } from '../platform/jobs/index.js';
import { WebsiteController } from './http/website.controller.js';
import { crawlStep } from './jobs/crawl-step.job.js';
import { keepCrawls, RunKeepCrawls } from './jobs/keep-crawls.job.js';
import { RunCrawlStep } from './jobs/run-crawl-step.js';
import type { KnowledgePart } from './knowledge-part.js';
import { CrawlPages } from './persistence/crawl-pages.repository.js';
import { CrawlSchedule } from './persistence/crawl-schedule.repository.js';
import { EndedCrawls } from './persistence/ended-crawls.repository.js';
import { WebsiteRepository } from './persistence/website.repository.js';
import { AskForKnownPages } from './website/ask-for-known-pages.js';
import { CrawlStep } from './website/crawl-step.js';
import { EndCrawl } from './website/end-crawl.js';
import { KeepCrawls } from './website/keep-crawls.js';
import { OpenSites } from './website/open-sites.js';
import { ReadWebsite } from './website/read-website.js';
import { RecordVisits } from './website/record-visits.js';
import { RemoveLeftBehindWebsites } from './website/remove-left-behind-websites.js';
import { RemovePages } from './website/remove-pages.js';
import { SetWebsite } from './website/set-website.js';
import { StartCrawl } from './website/start-crawl.js';
import { VisitPage } from './website/visit-page.js';

export const websitePart: KnowledgePart = {
  imports: [JobsModule.define(crawlStep, keepCrawls)],
  controllers: [WebsiteController],
  providers: [
    ...[WebsiteRepository, CrawlPages, EndedCrawls, CrawlSchedule],
    ...[ReadWebsite, SetWebsite, StartCrawl, KeepCrawls, RemoveLeftBehindWebsites],
    ...[CrawlStep, OpenSites, VisitPage, RecordVisits, RemovePages, AskForKnownPages, EndCrawl, RunCrawlStep, RunKeepCrawls],
  ],
};
