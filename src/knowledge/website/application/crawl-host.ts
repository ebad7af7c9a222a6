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
import { CrawlContext, HostSlice, settleAll } from './host-slice.js';
import { HttpRobots } from './http-robots.js';
import { ReadSitemaps } from './read-sitemaps.js';
import { RecordVisits } from './record-visits.js';
import { failedNote, visitWithNote } from './visit.js';
import { VisitPage } from './visit-page.js';

const LONG_PAUSE = 'The server asks for a longer pause than a crawl waits for.';

/**
 * Works for some seconds on the pages that all crawls have on one origin, under the lease of its host. All state is in the
 * database, so any worker can run the next slice, or repeat this one.
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

  async execute(origin: string, signal: AbortSignal): Promise<void> {
    const host = await this.leases.take(origin);
    if (!host) return this.enqueueAgain(origin);
    const stop = new AbortController();
    const slice = new HostSlice(origin, host, AbortSignal.any([signal, stop.signal]), this.clock, (key, own) =>
      this.contextOf(key, own),
    );
    const stopRenewing = this.leases.startRenewing(host, (reason) => stop.abort(reason));
    try {
      await this.work(slice, stop);
      await this.handOver(slice);
    } catch (error) {
      // The job is retried; without this the retry would wait until the lease ends.
      await this.handOver(slice).catch(() => undefined);
      throw error;
    } finally {
      stopRenewing();
    }
  }

  /** The worker that has the lease enqueues the next slice itself. This job is for the case that it dies. */
  private async enqueueAgain(origin: string): Promise<void> {
    const delaySeconds = (await this.leases.busyMs(origin)) / 1_000;
    await this.database.transaction((transaction) =>
      this.outbox.enqueue(transaction, crawlHost, { origin }, { dedupeKey: origin, delaySeconds }),
    );
  }

  private async work(slice: HostSlice, stop: AbortController): Promise<void> {
    const { origin, host, signal } = slice;
    if (slice.isOver) return;
    await this.pages.reclaim(origin, host.id);
    if (!slice.isPausedTooLong) slice.crawlDelayMs = (await this.robots.rulesOf(host, origin, signal)).crawlDelayMs;
    const parts = [this.readSitemaps.execute(slice), this.visitPages(slice)].map((part) =>
      part.catch((error: unknown) => {
        // The job is retried as a whole, so the other part stops too.
        stop.abort(error);
        throw error;
      }),
    );
    await settleAll(parts);
    // Pages of the sites whose sitemaps this slice has read.
    await this.visitPages(slice);
  }

  /** Fetches and parses one batch of pages while the batch before is stored. */
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
        // It is awaited in the next iteration. Without a handler until then, a failure would end the process.
        batch?.catch(() => undefined);
        await before;
        // The last batch may have added pages that are due now.
      } while (batch !== null || before !== null || ((await this.releaseHeld(slice)) && !slice.isOver));
    } finally {
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
    await settleAll(parts);
  }

  private async visit(
    context: CrawlContext,
    pages: readonly ClaimedPage[],
    before: Promise<void> | null,
  ): Promise<void> {
    const visits = await Promise.allSettled(
      pages.map(async (page) =>
        context.slice.isPausedTooLong
          ? visitWithNote(page, failedNote(page, LONG_PAUSE))
          : this.visitPage.execute(context, page),
      ),
    );
    const visited = visits.filter((visit) => visit.status === 'fulfilled').map(({ value }) => value);
    await before;
    if (visited.length > 0) await this.recordVisits.execute(context, visited);
    // Pages that were not visited are released at the end of the slice.
    const failures = visits.filter((visit) => visit.status === 'rejected');
    const failed = failures.find(({ reason }) => !(reason instanceof HostPaused));
    if (failed) throw failed.reason;
  }

  /** Stores held pages of crawls that can compare them now. @returns whether there were any */
  private async releaseHeld(slice: HostSlice): Promise<boolean> {
    const samples = await this.pages.completeSamples(slice.origin);
    for (const sample of samples)
      await slice.workFor(sample, (context) => this.recordVisits.releaseHeld(context, sample.earlier));
    return samples.length > 0;
  }

  /** Releases the host, and enqueues the next slice and the next step of crawls whose pages all have an outcome. */
  private async handOver({ origin, host, crawls }: HostSlice): Promise<void> {
    const worked = (await Promise.all(crawls.values())).filter((context) => context !== null);
    await this.database.transaction(async (transaction) => {
      // First: a worker that was refused the lease before this commit relies on `nextDue` to see the pages that it added.
      await this.leases.release(host, transaction);
      await this.pages.release(transaction, host.id);
      const due = await this.pages.nextDue(transaction, origin);
      if (due) {
        // With a longer pause than a crawl waits for, the pages fail at once.
        const pauseMs = host.pauseMs > MAX_PAUSE_MS ? 0 : host.pauseMs;
        const delaySeconds = Math.max(due.getTime() - this.clock.now().getTime(), pauseMs) / 1_000;
        await this.outbox.enqueue(transaction, crawlHost, { origin }, { dedupeKey: origin, delaySeconds });
      }
      for (const { crawl } of worked.filter(({ hasNewChunks }) => hasNewChunks))
        await this.embeddings.enqueueAgent(transaction, crawl.organizationId, crawl.agentId);
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
