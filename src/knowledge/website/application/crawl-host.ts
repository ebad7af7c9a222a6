import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../../access/index.js';
import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { EmbeddingQueue } from '../../index/application/indexing/embedding-queue.js';
import { HostPaused } from '../domain/host-lease.js';
import { crawlHost, crawlStep } from '../jobs/crawl.jobs.js';
import { MAX_PAUSE_MS, PAGES_AT_ONCE } from '../limits.js';
import { CrawlOrigins } from '../persistence/crawl-origins.repository.js';
import { type ClaimedPage, CrawlPages } from '../persistence/crawl-pages.repository.js';
import { HostLeases } from '../persistence/host-leases.repository.js';
import { type CrawlKey, WebsiteRepository } from '../persistence/website.repository.js';
import { allEnded } from './all-ended.js';
import { CrawlContext, HostSlice } from './host-slice.js';
import { HttpRobots } from './http-robots.js';
import { ReadSitemaps } from './read-sitemaps.js';
import { RecordVisits } from './record-visits.js';
import { failedNote, type Visit, visitOf } from './visit.js';
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
    const slice = new HostSlice(origin, host, AbortSignal.any([signal, stop.signal]), this.clock, (key, own) =>
      this.contextOf(key, own),
    );
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

  /** The worker that has the host asks for the next slice itself; this one is for a worker that dies. */
  private async comeBack(origin: string): Promise<void> {
    const delaySeconds = (await this.leases.busyMs(origin)) / 1_000;
    await this.database.transaction((transaction) =>
      this.outbox.enqueue(transaction, crawlHost, { origin }, { dedupeKey: origin, delaySeconds }),
    );
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
    await allEnded(parts);
    // Those of sites whose sitemaps were read meanwhile.
    await this.visitPages(slice);
  }

  /** In batches, of which one is fetched and parsed while the one before is stored. */
  private async visitPages(slice: HostSlice): Promise<void> {
    let before: Promise<void> | null = null;
    let batch: Promise<void> | null = null;
    try {
      do {
        before = batch;
        const pages = slice.isOver
          ? []
          : await this.pages.claim(slice.origin, slice.host.id, slice.crawlDelayMs > 0 ? 1 : PAGES_AT_ONCE);
        batch = pages.length > 0 ? this.visitBatch(slice, pages, before) : null;
        // It is awaited a turn later: a failure in between must not end the process.
        batch?.catch(() => undefined);
        await before;
        // Without another batch the one before may have led to pages that are due now.
      } while (batch !== null || before !== null || ((await this.releaseHeld(slice)) && !slice.isOver));
    } finally {
      // What is still being stored must not come after the slice's end.
      await Promise.allSettled([before, batch]);
    }
    slice.signal.throwIfAborted();
  }

  private async visitBatch(
    slice: HostSlice,
    pages: readonly (ClaimedPage & CrawlKey)[],
    before: Promise<void> | null,
  ): Promise<void> {
    const crawls = Map.groupBy(pages, ({ crawlId }) => crawlId);
    const parts = [...crawls.values()].flatMap((own) =>
      own[0] ? [slice.workFor(own[0], (context) => this.visit(context, own, before))] : [],
    );
    await allEnded(parts);
  }

  private async visit(
    context: CrawlContext,
    pages: readonly ClaimedPage[],
    before: Promise<void> | null,
  ): Promise<void> {
    const visits = await Promise.allSettled(pages.map((page) => this.visitOne(context, page)));
    const visited = visits.flatMap((visit) => (visit.status === 'fulfilled' ? [visit.value] : []));
    await before;
    if (visited.length > 0) await this.recordVisits.execute(context, visited);
    // What was not visited is given back at the end of the slice.
    const failed = visits.find((visit) => visit.status === 'rejected' && !(visit.reason instanceof HostPaused));
    if (failed?.status === 'rejected') throw failed.reason;
  }

  private async visitOne(context: CrawlContext, page: ClaimedPage): Promise<Visit> {
    if (context.slice.isAway) return visitOf(page, failedNote(page, LONG_PAUSE));
    return this.visitPage.execute(context, page);
  }

  /** @returns whether pages were held that can be stored now */
  private async releaseHeld(slice: HostSlice): Promise<boolean> {
    const samples = await this.pages.completeSamples(slice.origin);
    for (const sample of samples)
      await slice.workFor(sample, (context) => this.recordVisits.releaseHeld(context, sample.earlier));
    return samples.length > 0;
  }

  /** Gives the host to the next slice, and crawls without anything left to their next step. */
  private async handOver({ origin, host, crawls }: HostSlice): Promise<void> {
    const worked = (await Promise.all(crawls.values())).filter((context) => context !== null);
    await this.database.transaction(async (transaction) => {
      // First: a worker that was refused the lease before this commit leaves its pages to the look that follows.
      await this.leases.release(host, transaction);
      await this.pages.release(transaction, host.id);
      const due = await this.pages.nextDue(transaction, origin);
      if (due) {
        // What waits for longer than a crawl does fails at once.
        const pauseMs = host.pauseMs > MAX_PAUSE_MS ? 0 : host.pauseMs;
        const delaySeconds = Math.max(due.getTime() - this.clock.now().getTime(), pauseMs) / 1_000;
        await this.outbox.enqueue(transaction, crawlHost, { origin }, { dedupeKey: origin, delaySeconds });
      }
      for (const { crawl } of worked.filter(({ hasNewChunks }) => hasNewChunks))
        await this.embeddings.chunksAdded(transaction, crawl.organizationId, crawl.agentId);
      for (const crawl of await this.pages.finished(transaction, [...crawls.keys()])) {
        await this.outbox.enqueue(transaction, crawlStep, crawl, { dedupeKey: crawl.crawlId });
      }
    });
  }

  private async contextOf(key: CrawlKey, slice: HostSlice): Promise<CrawlContext | null> {
    const crawl = await this.websites.currentCrawl(key);
    if (!crawl) return null;
    const budget = crawl.budget ?? (await this.organizations.find(crawl.organizationId))?.crawlPages ?? 0;
    return new CrawlContext(crawl, budget, await this.origins.repeated(crawl, slice.origin), slice);
  }
}
