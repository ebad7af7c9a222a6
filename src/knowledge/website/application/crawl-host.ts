import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../../access/index.js';
import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { EmbeddingQueue } from '../../index/application/indexing/embedding-queue.js';
import { crawlHost, crawlStep } from '../jobs/crawl.jobs.js';
import { MAX_PAUSE_MS, PAGES_AT_ONCE } from '../limits.js';
import { CrawlOrigins } from '../persistence/crawl-origins.repository.js';
import { type ClaimedPage, CrawlPages } from '../persistence/crawl-pages.repository.js';
import { type CrawlKey, WebsiteRepository } from '../persistence/website.repository.js';
import { CrawlContext, CrawlSuperseded } from './crawl-context.js';
import { HostLeases, HostPaused } from './host-lease.js';
import { HostSlice, type SlicedCrawl } from './host-slice.js';
import { HttpRobots } from './http-robots.js';
import { PageQueue } from './page-queue.js';
import { ReadSitemaps } from './read-sitemaps.js';
import { RecordVisits } from './record-visits.js';
import { VisitPage } from './visit-page.js';

const LONG_PAUSE = 'The server wants to be left alone for longer than a crawl waits.';

/**
 * Some seconds' worth of what all crawls have to ask one origin for, by the one process that has the lease of its host.
 * Everything is in the database, so that any worker can do the next slice, or this one again.
 */
@Injectable()
export class CrawlHost {
  constructor(
    private readonly leases: HostLeases,
    private readonly websites: WebsiteRepository,
    private readonly origins: CrawlOrigins,
    private readonly pages: CrawlPages,
    private readonly organizations: OrganizationDirectory,
    private readonly robots: HttpRobots,
    private readonly readSitemaps: ReadSitemaps,
    private readonly visitPage: VisitPage,
    private readonly recordVisits: RecordVisits,
    private readonly embeddings: EmbeddingQueue,
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly clock: Clock,
  ) {}

  /** @param origin `https://example.com` */
  async execute(origin: string, signal: AbortSignal): Promise<void> {
    const host = await this.leases.take(origin);
    if (!host) return this.comeBack(origin);
    const stop = new AbortController();
    const record = this.recordVisits.execute.bind(this.recordVisits);
    const slice = new HostSlice(origin, host, AbortSignal.any([signal, stop.signal]), this.clock, (key, own) => this.contextOf(key, own), record);
    const stopRenewing = this.leases.keep(host, (reason) => stop.abort(reason));
    try {
      await this.work(slice, stop);
      await this.handOver(slice);
    } catch (error) {
      // The job runs again; another worker need not wait for the lease to end.
      await this.handOver(slice).catch(() => undefined);
      throw error;
    } finally {
      stopRenewing();
    }
  }

  /** Who has the host asks for the next slice itself; this one is for a worker that dies. */
  private async comeBack(origin: string): Promise<void> {
    const delaySeconds = (await this.leases.busyMs(origin)) / 1_000;
    await this.database.transaction((transaction) => this.outbox.enqueue(transaction, crawlHost, { origin }, { dedupeKey: origin, delaySeconds }));
  }

  private async work(slice: HostSlice, stop: AbortController): Promise<void> {
    const { origin, host, signal } = slice;
    if (slice.isOver) return;
    await this.pages.takeBack(origin, host.id);
    if (!slice.isAway) slice.crawlDelayMs = (await this.robots.rulesOf(host, origin, signal)).crawlDelayMs;
    const parts = [this.readSitemaps.execute(slice), this.visitPages(slice)].map((part) =>
      part.catch((error: unknown) => {
        // The others' work would be lost with this slice's anyway.
        stop.abort(error);
        throw error;
      }),
    );
    const results = await Promise.allSettled(parts);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw stop.signal.aborted ? stop.signal.reason : failed.reason;
    // Those of sites whose sitemaps were read meanwhile.
    await this.visitPages(slice);
  }

  private async visitPages(slice: HostSlice): Promise<void> {
    do {
      const claim = (): Promise<(ClaimedPage & CrawlKey)[]> => this.pages.claim(slice.origin, slice.host.id, slice.crawlDelayMs > 0 ? 1 : undefined);
      const queue = new PageQueue(claim, () => slice.isOver);
      const results = await Promise.allSettled(Array.from({ length: PAGES_AT_ONCE }, () => this.visitNext(slice, queue)));
      const failed = results.find((result) => result.status === 'rejected');
      if (failed) throw failed.reason;
      slice.signal.throwIfAborted();
    } while ((await this.releaseHeld(slice)) && !slice.isOver);
  }

  private async visitNext(slice: HostSlice, queue: PageQueue<ClaimedPage & CrawlKey>): Promise<void> {
    for (let page = await queue.next(); page; page = await queue.next()) {
      const crawl = await slice.crawl(page);
      try {
        if (crawl && !crawl.context.isOver) await this.visit(slice, crawl, page);
      } catch (error) {
        if (error instanceof CrawlSuperseded) crawl?.context.end(error);
        // What was not visited is given back at the end of the slice.
        else if (!(error instanceof HostPaused) && !(crawl?.context.isOver === true && !slice.signal.aborted)) throw error;
      } finally {
        queue.done(crawl?.context.takeAdded() === true);
      }
    }
  }

  private async visit(slice: HostSlice, { context, recorder }: SlicedCrawl, page: ClaimedPage): Promise<void> {
    const visit = slice.isAway
      ? ({ kind: 'failed', page, reason: LONG_PAUSE, gone: false, links: [] } as const)
      : await this.visitPage.execute(context, page, slice.host);
    await recorder.record(visit);
  }

  /** @returns whether pages were held that can be stored now */
  private async releaseHeld(slice: HostSlice): Promise<boolean> {
    const samples = await this.pages.completeSamples(slice.origin);
    for (const sample of samples) {
      const crawl = await slice.crawl(sample);
      try {
        if (crawl) await this.recordVisits.releaseHeld(crawl.context, sample.earlier);
      } catch (error) {
        if (!(error instanceof CrawlSuperseded)) throw error;
        crawl?.context.end(error);
      }
    }
    return samples.length > 0;
  }

  /** Gives the host to the next slice, and crawls without anything left to their next step. */
  private async handOver({ origin, host, crawls }: HostSlice): Promise<void> {
    const worked = (await Promise.all([...crawls.values()])).flatMap((crawl) => (crawl ? [crawl.context] : []));
    await this.database.transaction(async (transaction) => {
      // First: who was refused the lease before this commit leaves its pages to the look that follows.
      await this.leases.release(host, transaction);
      await this.pages.release(transaction, host.id);
      const due = await this.pages.nextDue(transaction, origin);
      if (due) {
        // What waits for longer than a crawl does fails at once.
        const pauseMs = host.pauseMs > MAX_PAUSE_MS ? 0 : host.pauseMs;
        const delaySeconds = Math.max(due.getTime() - this.clock.now().getTime(), pauseMs) / 1_000;
        await this.outbox.enqueue(transaction, crawlHost, { origin }, { dedupeKey: origin, delaySeconds });
      }
      for (const { crawl } of worked.filter(({ hasNewChunks }) => hasNewChunks)) await this.embeddings.chunksAdded(transaction, crawl.organizationId, crawl.agentId);
      for (const crawl of await this.pages.finished(transaction, [...crawls.keys()])) {
        await this.outbox.enqueue(transaction, crawlStep, crawl, { dedupeKey: crawl.crawlId });
      }
    });
  }

  private async contextOf(key: CrawlKey, { origin, host, signal }: HostSlice): Promise<CrawlContext | null> {
    const crawl = await this.websites.currentCrawl(key);
    if (!crawl) return null;
    const budget = crawl.budget ?? (await this.organizations.find(crawl.organizationId))?.crawlPages ?? 0;
    return new CrawlContext(crawl, budget, host.id, origin, await this.origins.repeated(crawl, origin), signal);
  }
}
