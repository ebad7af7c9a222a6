import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster/cluster.ts';
import type { Outages } from '../cluster/outages.ts';
import type { Service } from '../cluster/service.ts';
import type { Findings } from '../findings.ts';
import type { Random } from '../random.ts';

export interface Answer<Body = unknown> {
  readonly status: number;
  readonly body: Body;
  readonly retryAfterMs: number;
  readonly replica: string;
}

export interface Call {
  readonly body?: object | FormData;
  readonly headers?: Readonly<Record<string, string>>;
  readonly service?: Service;
  /** For an answer that waits for a run's end. */
  readonly withinMs?: number;
  /** Ends the request, as a customer who leaves does. */
  readonly signal?: AbortSignal;
}

/** No answer may take longer, whatever breaks, unless it waits for the end of a run, whose process may have died: the longest fault is far shorter. */
const ANSWER_WITHIN_MS = 75_000;
/** An honest customer gives up then, and the service has failed it. */
export const PATIENCE_MS = 180_000;
/** In which a run is ended whose process died. */
const TAKEN_OVER_WITHIN_MS = 60_000;
const PASSING = [409, 429, 502, 503, 504];

/** The connection broke, or none was made. */
export class Broken extends Error {}

/** The API as a customer behind a balancer sees it: each request goes to either replica. */
export class Api {
  readonly statuses: Record<string, number> = {};
  readonly services: readonly Service[];
  readonly findings: Findings;
  readonly outages: Outages;
  private readonly build: string;
  private readonly key: string;
  private readonly random: Random;

  constructor(cluster: Pick<Cluster, 'apis' | 'outages' | 'build'>, key: string, random: Random, findings: Findings) {
    this.services = cluster.apis;
    this.outages = cluster.outages;
    this.build = cluster.build;
    this.key = key;
    this.random = random;
    this.findings = findings;
  }

  /** Whether a replica is of the former release, whose own faults cannot be mended any more. */
  get servesFormer(): boolean {
    return this.services.some((service) => this.isFormer(service));
  }

  isFormer({ generation }: Service): boolean {
    return generation?.build !== this.build;
  }

  /** Whether who has waited since `began` may give up: a run outlives the process that dies only once the database has been there for a while. */
  isOver(began: number): boolean {
    const databaseIsBack = this.outages.lastSince(began, ['PostgreSQL']) + TAKEN_OVER_WITHIN_MS;
    return performance.now() > Math.max(began + PATIENCE_MS, databaseIsBack);
  }

  /** The newest faults, and what the processes have logged about a run. */
  circumstances(runId: string): Readonly<Record<string, unknown>> {
    const logged = this.services.flatMap((service) => service.logged((line) => line.includes(runId)));
    return { faults: this.outages.newest(), logged };
  }

  other(than: Service): Service {
    return this.services.find((service) => service !== than) ?? than;
  }

  any(): Service {
    return this.random.of(this.services);
  }

  /** @throws Broken */
  async send(method: string, path: string, call: Call = {}): Promise<Response> {
    const { body, headers = {}, service = this.any(), withinMs = ANSWER_WITHIN_MS, signal } = call;
    const isJson = body !== undefined && !(body instanceof FormData);
    const began = performance.now();
    try {
      const response = await fetch(service.origin + path, {
        method,
        headers: {
          authorization: `Bearer ${this.key}`,
          ...(isJson && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
        signal: AbortSignal.any([AbortSignal.timeout(withinMs), ...(signal ? [signal] : [])]),
      });
      this.count(String(response.status));
      return response;
    } catch (error) {
      if (performance.now() - began >= withinMs - 1000)
        this.findings.add('silence', `${method} ${path} had no answer in ${withinMs / 1000} s`, {
          replica: service.name,
          log: service.generation?.log,
        });
      this.count('broken');
      throw new Broken(String(error instanceof Error ? (error.cause ?? error) : error));
    }
  }

  /** @throws Broken */
  async ask<Body>(method: string, path: string, call: Call = {}): Promise<Answer<Body>> {
    const service = call.service ?? this.any();
    // A deploy may replace the process before its answer is judged.
    const isFormer = this.isFormer(service);
    const response = await this.send(method, path, { ...call, service });
    let text: string;
    try {
      text = await response.text();
    } catch (error) {
      throw new Broken(String(error));
    }
    const { status, headers } = response;
    const answer = {
      status,
      body: (text === '' ? null : JSON.parse(text)) as Body,
      retryAfterMs: Number(headers.get('retry-after') ?? 0) * 1000,
      replica: service.name,
    };
    const request = headers.get('x-request-id');
    if (!isFormer) this.checkStatus(method, path, answer, { request, log: service.generation?.log });
    return answer;
  }

  /** Repeats a request that may be repeated, until it has an answer that is neither a passing fault nor a refusal to wait out. */
  async until<Body>(method: string, path: string, call: Call = {}): Promise<Answer<Body>> {
    const deadline = performance.now() + PATIENCE_MS;
    const seen: string[] = [];
    while (performance.now() < deadline) {
      let waitMs = 300;
      try {
        const answer = await this.ask<Body>(method, path, call);
        if (answer.status < 500 && !PASSING.includes(answer.status)) return answer;
        seen.push(`${answer.replica} ${answer.status} ${JSON.stringify(answer.body)}`);
        waitMs = Math.min(Math.max(answer.retryAfterMs, 300), 5000);
      } catch (error) {
        if (!(error instanceof Broken)) throw error;
        seen.push(error.message);
      }
      await sleep(waitMs);
    }
    this.findings.add('unresolved', `${method} ${path} had no usable answer`, { seen: seen.slice(-6) });
    throw new Unresolved(`${method} ${path}`);
  }

  private count(status: string): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
  }

  private checkStatus(method: string, path: string, { status, body }: Answer, where: object): void {
    // The 500 of a run whose process died is judged by who knows the run.
    if (status !== 500 || path.endsWith('/runs')) return;
    this.findings.add('500', `${method} ${path} answered 500`, { ...where, body });
  }
}

/** The API has added a finding. The customer drops the request and continues with another. */
export class Unresolved extends Error {}
