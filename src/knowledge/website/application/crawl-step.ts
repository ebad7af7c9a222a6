import { Injectable } from '@nestjs/common';
import { OrganizationDirectory } from '../../../access/index.js';
import { Clock } from '../../../platform/clock/index.js';
import { Database } from '../../../platform/database/index.js';
import { Outbox } from '../../../platform/jobs/index.js';
import { hostOf } from '../domain/host.js';
import { HostPaused, HostSlots } from './host-slots.js';
import { MAX_CRAWL_DELAY_MS } from '../crawl-limits.js';
import { Robots } from './robots.js';
import { EmbeddingQueue } from '../../index/application/indexing/embedding-queue.js';
import { crawlStep } from '../jobs/crawl-step.job.js';
import { type ClaimedPage, CrawlPages } from '../persistence/crawl-pages.repository.js';
import { type CrawlKey, WebsiteRepository } from '../persistence/website.repository.js';
import { AskForKnownPages } from './ask-for-known-pages.js';
import { CrawlContext, CrawlSuperseded } from './crawl-context.js';
import { EndCrawl } from './end-crawl.js';
import { CLAIM_RENEWAL_MS, HOST_BUSY_MS, MAX_PAUSE_MS, PAGES_AT_ONCE, STEP_MS } from '../limits.js';
import { OpenSites } from './open-sites.js';
import { PageQueue } from './page-queue.js';
import { RecordVisits } from './record-visits.js';
import { RemovePages } from './remove-pages.js';
import { VisitPage } from './visit-page.js';
import { VisitRecorder } from './visit-recorder.js';

const LONG_PAUSE = 'The server wants to be left alone for longer than a crawl waits.';

/**
 * Some seconds' worth of a crawl. Everything is in the database, so that any worker can do the next step, or this one
 * again; two at a time visit different pages.
 */
@Injectable()
export class CrawlStep {
  constructor(
    private readonly websites: WebsiteRepository,
    private readonly pages: CrawlPages,
    private readonly organizations: OrganizationDirectory,
    private readonly robots: Robots,
    private readonly slots: HostSlots,
    private readonly openSites: OpenSites,
    private readonly visitPage: VisitPage,
    private readonly recordVisits: RecordVisits,
    private readonly removePages: RemovePages,
    private readonly askForKnownPages: AskForKnownPages,
    private readonly endCrawl: EndCrawl,
    private readonly database: Database,
    private readonly outbox: Outbox,
    private readonly embeddings: EmbeddingQueue,
    private readonly clock: Clock,
  ) {}

  /**
   * Does nothing for a crawl that is not the current one any more.
   * @param job the queue's id of the step: a second run of it takes over what the first one held
   */
  async execute(key: CrawlKey, job: string, signal: AbortSignal): Promise<void> {
    const crawl = await this.websites.currentCrawl(key);
    if (!crawl) return;
    const stop = new AbortController();
    const budget = crawl.budget ?? (await this.organizations.find(key.organizationId))?.crawlPages ?? 0;
    const context = new CrawlContext(crawl, budget, job, this.robots, AbortSignal.any([signal, stop.signal]));
    const stopRenewing = this.clock.every(CLAIM_RENEWAL_MS, () => {
      // A claim that lapses is another worker's, and this one's outcomes are not heard then.
      this.pages.renew(crawl, context.claim).catch(() => undefined);
    });
    try {
      await this.work(context, stop);
    } catch (error) {
      // The job runs again, and takes back what is held; another's step need not wait for that.
      if (!(error instanceof CrawlSuperseded)) await this.pages.releaseAll(crawl, context.claim).catch(() => undefined);
      if (!(error instanceof CrawlSuperseded)) throw error;
    } finally {
      stopRenewing();
    }
  }

  private async work(context: CrawlContext, stop: AbortController): Promise<void> {
    const { crawl, signal } = context;
    if (crawl.budget === null) {
      await this.removePages.ofRemovedSites(crawl, signal);
      await this.openSites.begin(context);
    }
    const sites = await this.openSites.next(context);
    await this.pages.takeBack(crawl, context.claim);
    await this.visitPages(context, stop);
    if (await this.continueLater(context, sites)) return;
    if (await this.askForKnownPages.execute(context)) await this.continueLater(context, 'now');
    else await this.endCrawl.execute(context);
  }

  private async visitPages(context: CrawlContext, stop: AbortController): Promise<void> {
    const began = this.clock.monotonic();
    const slow = new Set<string>();
    const queue = new PageQueue(
      () => this.claim(context, slow),
      () => context.signal.aborted || this.clock.monotonic() - began >= STEP_MS,
    );
    const recorder = new VisitRecorder((visits) => this.recordVisits.execute(context, visits));
    const workers = Array.from({ length: PAGES_AT_ONCE }, () =>
      this.visitNext(context, queue, recorder).catch((error: unknown) => {
        // The others' work would be lost with this step's anyway.
        stop.abort(error);
        throw error;
      }),
    );
    const results = await Promise.allSettled(workers);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw stop.signal.aborted ? stop.signal.reason : failed.reason;
    context.signal.throwIfAborted();
    const now = this.clock.now();
    await this.pages.release(context.crawl, context.claim, queue.takeRest().map(({ id }) => ({ id, availableAt: now })));
  }

  private async visitNext(context: CrawlContext, queue: PageQueue, recorder: VisitRecorder): Promise<void> {
    for (let page = await queue.next(); page; page = await queue.next()) {
      const current = page;
      let isFetching = true;
      const fetched = (): void => {
        if (isFetching) queue.fetched(current);
        isFetching = false;
      };
      try {
        const pauseMs = this.slots.knownPauseMs(hostOf(new URL(current.url)));
        if (pauseMs > MAX_PAUSE_MS) await recorder.record({ kind: 'failed', page, reason: LONG_PAUSE, gone: false, links: [] });
        else if (pauseMs > 0 && (await context.rulesOf(current.origin)).closed === null) await this.giveBack(context, current, 0);
        else await recorder.record(await this.visitPage.execute(context, current, fetched));
      } catch (error) {
        if (!(error instanceof HostPaused)) throw error;
        await this.giveBack(context, current, HOST_BUSY_MS);
      } finally {
        fetched();
        queue.done();
      }
    }
  }

  /**
   * Pages of hosts whose turn it is; of one that asks for pauses one a step, so that no worker waits for it. A host that
   * wants to be left alone for longer than a crawl waits has its pages fail (`visitNext`).
   * @param slow hosts of which this step has had its page
   */
  private async claim(context: CrawlContext, slow: Set<string>): Promise<readonly ClaimedPage[]> {
    const pauses = await this.pausesOf(context);
    const isDue = (origin: string): boolean => !slow.has(origin) && ((pauses.get(origin) ?? 0) === 0 || (pauses.get(origin) ?? 0) > MAX_PAUSE_MS);
    const claimed = await this.pages.claim(context.crawl, context.scope.origins.filter(isDue), context.claim);
    const kept = claimed.filter(({ origin }) => pauses.has(origin));
    const postponed: { id: string; availableAt: Date }[] = [];
    const availableAt = this.clock.now();
    for (const page of claimed.filter(({ origin }) => !pauses.has(origin))) {
      const { crawlDelayMs } = await context.rulesOf(page.origin);
      if (crawlDelayMs > 0 && slow.has(page.origin)) postponed.push({ id: page.id, availableAt });
      else kept.push(page);
      if (crawlDelayMs > 0) slow.add(page.origin);
    }
    await this.pages.release(context.crawl, context.claim, postponed);
    return kept;
  }

  /** For how long origins of the crawl are to be left alone, in ms. */
  private async pausesOf({ scope }: CrawlContext): Promise<ReadonlyMap<string, number>> {
    const hosts = new Map(scope.origins.map((origin) => [origin, hostOf(new URL(origin))]));
    const pauses = await this.slots.pausesOf([...hosts.values()]);
    return new Map([...hosts].flatMap(([origin, host]) => (pauses.has(host) ? [[origin, pauses.get(host) ?? 0]] : [])));
  }

  private async giveBack(context: CrawlContext, { id }: ClaimedPage, inMs: number): Promise<void> {
    await this.pages.release(context.crawl, context.claim, [{ id, availableAt: new Date(this.clock.now().getTime() + inMs) }]);
  }

  /** @returns false when nothing is left to be visited */
  private async continueLater(context: CrawlContext, sites: 'now' | 'in_turn' | 'none'): Promise<boolean> {
    const { crawl } = context;
    const pauses = await this.pausesOf(context);
    return this.database.transaction(async (transaction) => {
      if (!(await this.pages.lock(transaction, crawl))) throw new CrawlSuperseded();
      const due = await this.pages.nextDue(transaction, crawl, pauses);
      if (due === null && sites === 'none' && !(await this.pages.returnCopies(transaction, crawl))) return false;
      const dueMs = due === null ? 0 : Math.max(due.getTime() - this.clock.now().getTime(), 0);
      const turnMs = Math.min(...pauses.values(), MAX_CRAWL_DELAY_MS);
      const turns = sites === 'in_turn' ? [Math.max(turnMs, HOST_BUSY_MS)] : [];
      const waitMs = sites === 'now' ? 0 : Math.min(...turns, ...(due === null && turns.length > 0 ? [] : [dueMs]));
      const { organizationId, agentId, crawlId } = crawl;
      const options = { delaySeconds: waitMs / 1_000, dedupeKey: crawlId };
      // Once for all pages of the step: a job that gives vectors looks through all chunks of the agent.
      if (context.hasNewChunks) await this.embeddings.chunksAdded(transaction, organizationId, agentId);
      await this.outbox.enqueue(transaction, crawlStep, { organizationId, agentId, crawlId }, options);
      return true;
    });
  }
}
