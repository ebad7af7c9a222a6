import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster/cluster.ts';
import type { Generation } from './cluster/service.ts';
import type { Answer, Api } from './customers/api.ts';
import type { Agents } from './customers/customer.ts';
import type { Librarian } from './customers/librarian.ts';
import type { RunView } from './customers/run-stream.ts';
import type { Findings } from './findings.ts';
import type { Ledger, ThreadRecord, Turn } from './ledger.ts';
import type { Receiver } from './outside/receiver.ts';
import type { ToolServer } from './outside/tool-server.ts';
import { replyOf } from './outside/script.ts';
import { comesTrue } from './until.ts';

interface StoredMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly clientId: string | null;
  readonly runId: string | null;
  readonly status: string;
  readonly attachments: readonly { readonly url: string }[];
  readonly toolCalls?: readonly { readonly id: string; readonly status: string }[];
}

interface Entry {
  readonly runId: string;
  readonly credits: number;
}
interface EntryPage {
  readonly entries: readonly Entry[];
  readonly nextCursor: string | null;
}

export interface CheckOptions {
  readonly cluster: Cluster;
  readonly api: Api;
  readonly ledger: Ledger;
  readonly agents: Agents;
  readonly librarian: Librarian;
  readonly receiver: Receiver;
  readonly tools: ToolServer;
  readonly findings: Findings;
}

/** Runs of a dead process end within 60 s, jobs of a dead worker are taken up within 60 s, deliveries come again after 65 s. */
const SETTLED_WITHIN_MS = 200_000;
const STARTED_WITHIN_MS = 60_000;
/** Shorter lives say nothing: caches, pools and code are still filling up. */
const LIFE_SECONDS = 240;
const WINDOW_SECONDS = 45;
const GROWTH_MIB = 80;
/** A leak is steady; what fills up late, because a slow machine has served little, is not. */
const GROWTH_OF_QUARTER_MIB = 25;
const RESIDENT_MIB = 600;
const SEARCHED = 40;
const AT_ONCE = 6;

interface KnowledgeFile {
  readonly id: string;
  readonly status: string;
  readonly error: unknown;
}

/** Compares what the service holds with what it has acknowledged. */
export class Checks {
  private readonly options: CheckOptions;
  /** The end of each run that the service has stored, by its id. */
  private readonly statuses = new Map<string, string>();

  constructor(options: CheckOptions) {
    this.options = options;
  }

  async all(): Promise<void> {
    const { ledger, librarian, agents, api, findings } = this.options;
    await this.settled();
    await inParallel([...ledger.threads.values()], (thread) => this.thread(thread));
    this.payments();
    await this.webhooks();
    await this.credits();
    await librarian.crawl().catch(() => findings.add('crawl', 'The last crawl did not end'));
    let files = new Map<string, KnowledgeFile>();
    // A worker that dies keeps its jobs from others for some time.
    await comesTrue(async () => {
      const path = `/v1/agents/${agents.knows}/knowledge-bases/uploaded-files`;
      const { body } = await api.until<{ files: readonly KnowledgeFile[] }>('GET', path);
      files = new Map(body.files.map((file) => [file.id, file]));
      return body.files.every(({ status }) => status !== 'processing');
    }, SETTLED_WITHIN_MS);
    for (const [id] of ledger.documents)
      if (files.get(id)?.status !== 'ready')
        findings.add('knowledge', 'A file is not ready', { id, file: files.get(id) });
    const words = [...ledger.documents.values()];
    await inParallel([...words.slice(0, SEARCHED / 2), ...words.slice(-SEARCHED / 2)], (word) =>
      librarian.expectFound(agents.knows, word),
    );
    this.memory();
  }

  /** No run under way, no job that is due or dead. */
  private async settled(): Promise<void> {
    const { cluster, findings } = this.options;
    const running = (): Promise<object[]> =>
      cluster.postgres.query(`select id, thread_id, owner_id, created_at from runs where status = 'running'`);
    if (!(await comesTrue(async () => (await running()).length === 0, SETTLED_WITHIN_MS)))
      findings.add('running', 'Runs are under way for ever', { runs: (await running()).slice(0, 5) });
    const due = (): Promise<object[]> =>
      cluster.postgres.query(
        `select id, name, state, attempts, created_at, available_at, started_at, last_error from outbox
         where state <> 'dead' and created_at < now() - interval '90 seconds' and (state <> 'pending' or available_at < now())`,
      );
    if (!(await comesTrue(async () => (await due()).length === 0, SETTLED_WITHIN_MS)))
      findings.add('job', 'Jobs are not done', { jobs: (await due()).slice(0, 5) });
    const dead = await cluster.postgres.query(`select id, name, attempts, last_error from outbox where state = 'dead'`);
    if (dead.length > 0) findings.add('dead-letter', 'Jobs have failed for good', { jobs: dead.slice(0, 5) });
  }

  private async thread(thread: ThreadRecord): Promise<void> {
    const { api, findings } = this.options;
    const { status, body } = await api.until<{ messages: StoredMessage[] }>('GET', `/v1/threads/${thread.id}/messages`);
    if (thread.deletion !== 'none') {
      if (thread.deletion === 'acknowledged' && status !== 404)
        findings.add('deleted', `A deleted thread answers ${status}`, { thread: thread.id });
      return;
    }
    if (status !== 200) {
      findings.add('lost', `A thread answers ${status}`, { thread: thread.id });
      return;
    }
    const runs = await this.runsOf(thread);
    for (const { id, status: end } of runs) this.statuses.set(id, end);
    this.messages(thread, body.messages);
    this.runs(thread, runs);
    await this.attachments(thread, body.messages);
  }

  private async runsOf({ id }: ThreadRecord): Promise<RunView[]> {
    const { body } = await this.options.api.until<{ runs: RunView[] }>('GET', `/v1/threads/${id}/runs?limit=100`);
    return body.runs;
  }

  /** Each message once, in the order of the customer, each acknowledged one there, each reply after its question. */
  private messages(thread: ThreadRecord, stored: readonly StoredMessage[]): void {
    const { findings } = this.options;
    const turns = new Map(thread.turns.map((turn) => [turn.clientId, turn]));
    const asked = stored.filter(({ role }) => role === 'user');
    const numbers = asked.map(({ clientId }) => turns.get(clientId ?? '')?.script.number ?? -1);
    if (numbers.some((number, index) => number <= (numbers[index - 1] ?? 0)))
      findings.add('order', 'Messages are doubled, foreign or out of order', { thread: thread.id, numbers });
    for (const turn of thread.turns) {
      const own = asked.find(({ clientId }) => clientId === turn.clientId);
      if (turn.accepted && own?.content !== turn.content)
        findings.add('lost', 'An acknowledged message is not there', {
          thread: thread.id,
          number: turn.script.number,
          own,
        });
      this.replies(thread, turn, stored);
    }
  }

  private replies(thread: ThreadRecord, turn: Turn, stored: readonly StoredMessage[]): void {
    const { findings } = this.options;
    const at = stored.findIndex(({ clientId }) => clientId === turn.clientId);
    const next = stored.findIndex(({ role }, index) => index > at && role === 'user');
    for (const { runId, status, content } of turn.ended) {
      const where = { thread: thread.id, runId, status, number: turn.script.number };
      const replies = stored.filter((message) => message.role === 'assistant' && message.runId === runId);
      if (replies.length > 1) findings.add('doubled', 'A run has several replies', { ...where, replies });
      const [reply] = replies;
      const isKept = status === 'failed' && reply?.status === 'incomplete' && isCutOff(content, reply.content, turn);
      if ((reply?.content ?? null) !== content && !(content === null && reply === undefined) && !isKept)
        findings.add('lost', 'The reply of a run is not the acknowledged one', {
          ...where,
          content,
          stored: reply?.content,
        });
      if (status === 'completed' && content !== replyOf(turn.script))
        findings.add('reply', 'A completed run has not its reply', { ...where, content });
      const place = reply ? stored.indexOf(reply) : at + 1;
      if (place <= at || (next >= 0 && place > next)) findings.add('order', 'A reply is at another place', where);
    }
  }

  /** One run for each message and each answer to interrupts; all of them ended, as the customer was told. */
  private runs(thread: ThreadRecord, runs: readonly RunView[]): void {
    const { findings } = this.options;
    const told = new Map(
      thread.turns.flatMap(({ ended }) => ended.map(({ runId, status }) => [runId, status] as const)),
    );
    for (const { id, status } of runs)
      if (told.has(id) && told.get(id) !== status)
        findings.add('changed', `A run that was ${told.get(id) ?? ''} is ${status}`, { thread: thread.id, run: id });
    const accepted = thread.turns.filter((turn) => turn.accepted).length;
    const answers = thread.turns.reduce((sum, { ended }) => sum + Math.max(0, ended.length - 1), 0);
    const unknown = thread.turns.filter(
      (turn) => turn.ended.length === 0 || turn.ended.at(-1)?.status === 'requires_action',
    );
    const extra = runs.length - accepted - answers;
    if (extra < 0 || extra > unknown.length)
      findings.add('runs', 'A thread has another number of runs than its customer started', {
        thread: thread.id,
        runs: runs.map(({ id, status }) => `${id} ${status}`),
        accepted,
        answers,
      });
  }

  private async attachments(thread: ThreadRecord, stored: readonly StoredMessage[]): Promise<void> {
    const { findings } = this.options;
    for (const { script, accepted, clientId } of thread.turns) {
      if (script.attached === undefined || !accepted) continue;
      const url = stored.find((message) => message.clientId === clientId)?.attachments[0]?.url;
      const { attached } = script;
      let text = '';
      // The process that the URL names may still be starting.
      const isRead = async (): Promise<boolean> => {
        text = await fetch(url ?? '')
          .then((answer) => answer.text())
          .catch(String);
        return text.includes(attached);
      };
      if (url === undefined || !(await comesTrue(isRead, STARTED_WITHIN_MS)))
        findings.add('attachment', 'An attachment cannot be read again', {
          thread: thread.id,
          clientId,
          url,
          text: text.slice(0, 200),
        });
    }
  }

  /** No payment twice, each payment whose message says so made, none that a person declined. */
  private payments(): void {
    const { ledger, tools, findings } = this.options;
    for (const [nonce, times] of tools.payments)
      if (times > 1) findings.add('paid-twice', `A tool was called ${times} times for one call`, { nonce });
    for (const thread of ledger.threads.values())
      for (const { script, decision, ended } of thread.turns) {
        const times = tools.payments.get(script.nonce) ?? 0;
        const asks = this.options.agents.asks.includes(thread.agentId);
        if (times > 0 && asks && decision !== 'approved')
          findings.add('unapproved', 'A tool was called without approval', {
            thread: thread.id,
            nonce: script.nonce,
            decision,
          });
        const isDone = script.call === 'pay' && ended.at(-1)?.status === 'completed' && decision !== 'declined';
        if (isDone && times === 0)
          findings.add('unpaid', 'A completed run has not called its tool', { thread: thread.id, nonce: script.nonce });
      }
  }

  private async webhooks(): Promise<void> {
    const { receiver, findings } = this.options;
    const missing = (): string[] =>
      [...this.statuses].flatMap(([run, status]) =>
        receiver.eventsOf.get(run)?.has(`run.${status}`) === true ? [] : `${run} ${status}`,
      );
    if (!(await comesTrue(() => missing().length === 0, SETTLED_WITHIN_MS)))
      findings.add('webhook', `${missing().length} runs have not been told to the webhook`, {
        runs: missing().slice(0, 10),
      });
  }

  /** The sum of a period is that of its entries, and a run has one entry. */
  private async credits(): Promise<void> {
    const { api, findings } = this.options;
    const entries: Entry[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Answer<EntryPage> = await api.until('GET', `/v1/credits/usage/entries?limit=1000${cursor}`);
      entries.push(...page.body.entries);
      cursor = page.body.nextCursor === null ? null : `&cursor=${encodeURIComponent(page.body.nextCursor)}`;
    }
    const { body } = await api.until<{ periods: readonly { creditsUsed: number }[] }>(
      'GET',
      '/v1/credits/usage/periods',
    );
    const used = body.periods.reduce((sum, { creditsUsed }) => sum + creditsUsed, 0);
    const sum = entries.reduce((total, { credits }) => total + credits, 0);
    if (Math.abs(used - sum) > 1e-6 * Math.max(1, sum))
      findings.add('credits', 'The sum is not that of the entries', { used, sum });
    const runs = new Set(entries.map(({ runId }) => runId));
    if (runs.size !== entries.length)
      findings.add('credits', 'A run has several entries', { entries: entries.length, runs: runs.size });
    const without = [...this.statuses].filter(([run, status]) => status === 'completed' && !runs.has(run));
    if (without.length > 0)
      findings.add('credits', 'Completed runs have no entry', { runs: without.slice(0, 10), of: without.length });
  }

  private memory(): void {
    for (const generation of this.options.cluster.services.flatMap(({ generations }) => generations)) {
      const growth = growthOf(generation);
      const peak = Math.max(0, ...generation.samples.map(({ residentMiB }) => residentMiB));
      const isGrowing = growth !== null && growth.total > GROWTH_MIB && growth.ofSlowerQuarter > GROWTH_OF_QUARTER_MIB;
      if (isGrowing || peak > RESIDENT_MIB)
        this.options.findings.add('memory', `${generation.service} has grown by ${growth?.total ?? 0} MiB to ${peak}`, {
          samples: generation.samples.map(({ ageSeconds, residentMiB }) => `${ageSeconds} s: ${residentMiB}`),
        });
    }
  }
}

/**
 * Of the second half of a life, in MiB, and of that of its two quarters which grew less; medians, because collections make it saw-toothed.
 * @returns null for a short life
 */
export function growthOf({ samples }: Generation): { readonly total: number; readonly ofSlowerQuarter: number } | null {
  const last = samples.at(-1)?.ageSeconds ?? 0;
  if (last < LIFE_SECONDS) return null;
  const around = (age: number): number | undefined =>
    median(
      samples
        .filter(({ ageSeconds }) => Math.abs(ageSeconds - age) <= WINDOW_SECONDS / 2)
        .map((sample) => sample.residentMiB),
    );
  const [middle, later, end] = [last / 2, (last * 3) / 4, last - WINDOW_SECONDS / 2].map(around);
  if (middle === undefined || later === undefined || end === undefined) return null;
  return { total: end - middle, ofSlowerQuarter: Math.min(later - middle, end - later) };
}

function median(numbers: readonly number[]): number | undefined {
  return numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)];
}

/** A process that was suspended until its run had been ended stores its whole reply after that; the run stays failed. */
function isCutOff(told: string | null, stored: string, { script }: Turn): boolean {
  return stored.startsWith(told ?? '') && replyOf(script).startsWith(stored);
}

async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      await work(item);
      await sleep(0);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
