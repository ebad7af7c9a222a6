import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../cluster/service.ts';
import type { Ended, ThreadRecord, Turn } from '../ledger.ts';
import { replyOf } from '../outside/script.ts';
import type { Random } from '../random.ts';
import { type Answer, type Api, Broken, PATIENCE_MS, Unresolved } from './api.ts';
import { type Interrupt, type RunAnswer, RunStream } from './run-stream.ts';

export type Mode = 'waiting' | 'streamed' | 'background';

export interface Request {
  readonly thread: ThreadRecord;
  readonly turn: Turn;
  /** Repeated as it is, under one key. */
  readonly body: object;
  readonly mode: Mode;
  /** What happens while a streamed run is under way. */
  readonly beside: 'nothing' | 'cancel' | 'leave' | 'follow';
  /** A run that answers interrupts has no message of its own: it is the thread's newest run after this one. */
  readonly after?: string;
}

export interface Outcome extends Ended {
  readonly interrupts: readonly Interrupt[];
}

/** After an answer or a broken connection that leaves open what became of the run. */
const AGAIN_MS = 400;
/** As `refused` notes an answer of a process that is not of the former release. */
const FAILURE = /^\S+ 500 /;
/** How many events a customer reads before it leaves or cancels. */
const EARLY = 4;
/** Times of cancellations, from the request to the end of the stream. */
export const cancelledAfterMs: number[] = [];

/** Gets a run started, whatever breaks, and finds out how it ended, as an honest customer does. */
export class Turns {
  private readonly api: Api;
  private readonly random: Random;

  constructor(api: Api, random: Random) {
    this.api = api;
    this.random = random;
  }

  /** @throws Unresolved */
  async run(request: Request): Promise<Outcome> {
    const key = randomUUID();
    const began = performance.now();
    const seen: string[] = [];
    while (!this.api.isOver(began)) {
      const result = await this.attempt(request, key, seen);
      const runId = result ?? (await this.find(request).catch(() => undefined));
      if (runId !== undefined) return this.judged(request, await this.ended(request, runId), { seen, began });
      await sleep(AGAIN_MS);
    }
    this.api.findings.add('unresolved', 'A run could not be started', {
      ...evidence(request),
      key,
      seen: seen.slice(-6),
    });
    throw new Unresolved('run');
  }

  /** Only a run whose process died, stopped or was suspended may fail; only then is 500 the right answer. */
  private judged(
    request: Request,
    outcome: Outcome,
    { seen, began }: { readonly seen: readonly string[]; readonly began: number },
  ): Outcome {
    const failures = seen.filter((answer) => FAILURE.test(answer));
    if (failures.length > 0 && outcome.errorCode !== 'internal')
      this.api.findings.add('500', 'A run was answered 500', {
        ...{ ...evidence(request), outcome, failures },
        ...this.api.circumstances(outcome.runId),
      });
    const wasStruck = this.api.servesFormer || this.api.outages.lastSince(began, ['processes']) > began;
    if (outcome.errorCode !== null && !wasStruck)
      this.api.findings.add('failed', 'A run has failed although no process was struck', {
        ...evidence(request),
        outcome,
        ...this.api.circumstances(outcome.runId),
      });
    return outcome;
  }

  /** @returns the run's id; undefined when nothing is known of it */
  private async attempt(request: Request, key: string, seen: string[]): Promise<string | undefined> {
    const service = this.api.any();
    const isFormer = this.api.isFormer(service);
    const answers: string[] = [];
    try {
      return request.mode === 'streamed'
        ? await this.stream(request, key, service, answers)
        : await this.wait(request, key, service, answers);
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      answers.push(`${service.name} ${error.message}`);
      return undefined;
    } finally {
      seen.push(...answers.map((answer) => (isFormer ? `former ${answer}` : answer)));
    }
  }

  private async wait(
    { thread, turn, body, mode }: Request,
    key: string,
    service: Service,
    seen: string[],
  ): Promise<string | undefined> {
    const sent = mode === 'background' ? { ...body, background: true } : body;
    const answer = await this.api.ask<RunAnswer | null>('POST', `/v1/threads/${thread.id}/runs`, {
      body: sent,
      service,
      headers: { 'idempotency-key': key },
      ...(mode !== 'background' && { withinMs: PATIENCE_MS }),
    });
    if (answer.status === 200 || answer.status === 202) {
      turn.accepted = true;
      const { run, message } = answer.body!;
      if (answer.status === 200) this.checkReply(turn, run.status, message?.content ?? null, { run: run.id });
      return run.id;
    }
    return this.refused(thread, answer, seen);
  }

  private async refused(thread: ThreadRecord, answer: Answer, seen: string[]): Promise<undefined> {
    seen.push(`${answer.replica} ${answer.status} ${JSON.stringify(answer.body)}`);
    if ([409, 429, 500, 502, 503, 504].includes(answer.status)) {
      await sleep(Math.min(answer.retryAfterMs, 5000));
      return undefined;
    }
    // Its own earlier request, whose answer was lost, may be the reason.
    if (answer.status !== 400)
      this.api.findings.add('refused', `A run was refused with ${answer.status}`, {
        thread: thread.id,
        body: answer.body,
      });
    return undefined;
  }

  private async stream(request: Request, key: string, service: Service, seen: string[]): Promise<string | undefined> {
    const { thread, turn, body } = request;
    const isFormer = this.api.isFormer(service);
    const leaving = new AbortController();
    const response = await this.api.send('POST', `/v1/threads/${thread.id}/runs/stream`, {
      body,
      service,
      signal: leaving.signal,
      headers: { 'idempotency-key': key },
    });
    if (response.status !== 200) {
      const text = await response.text().catch(() => '');
      const retryAfterMs = Number(response.headers.get('retry-after') ?? 0) * 1000;
      if (response.status === 500 && !isFormer)
        this.api.findings.add('500', 'A stream was refused with 500', {
          ...evidence(request),
          text,
          log: service.generation?.log,
        });
      return this.refused(thread, { status: response.status, body: text, retryAfterMs, replica: service.name }, seen);
    }
    const stream = new RunStream(this.api);
    const beside = new Beside(this.api, request, stream, { service, leaving });
    const reading = await stream.read(response, service, () => {
      turn.accepted = true;
      beside.seen();
    });
    if (reading === 'silent') this.silent(request, stream, service);
    if (stream.runId === undefined) return undefined;
    await this.rejoinToTheEnd(request, stream, service);
    await beside.settled();
    this.checkEnd(request, stream, service);
    return stream.runId;
  }

  /** @returns once the stream has ended, or can no longer be joined */
  private async rejoinToTheEnd(request: Request, stream: RunStream, last: Service): Promise<void> {
    const began = performance.now();
    for (let service = this.api.other(last); !stream.hasEnded; service = this.random.of(this.api.services)) {
      const isFormer = this.api.isFormer(service);
      const result = await stream.rejoin(request.thread.id, service);
      if (result === 'ended' || result === 410) return;
      if (result === 'silent') this.silent(request, stream, service);
      const where = { ...evidence(request), run: stream.runId, result };
      const isPassing = typeof result !== 'number' || [429, 502, 503, 504, ...(isFormer ? [500] : [])].includes(result);
      if (!isPassing || this.api.isOver(began)) {
        this.api.findings.add('stream', 'A run under way could not be joined to its end', where);
        return;
      }
      await sleep(AGAIN_MS);
    }
  }

  private silent(request: Request, stream: RunStream, service: Service): void {
    this.api.findings.add('silent-end', 'A stream was closed without a terminal event', {
      ...evidence(request),
      run: stream.runId,
      replica: service.name,
      log: service.generation?.log,
    });
  }

  private checkEnd({ turn }: Request, stream: RunStream, service: Service): void {
    const { last } = stream;
    if (last?.type !== 'RUN_FINISHED') return;
    const message = last.result?.message ?? null;
    const where = { run: stream.runId, replica: service.name, log: service.generation?.log };
    const isRead = stream.fromDatabase ? message?.content.startsWith(stream.text) : message?.content === stream.text;
    if (message && isRead !== true)
      this.api.findings.add('text', 'The text of a stream is not the stored one', {
        ...where,
        streamed: stream.text,
        stored: message.content,
      });
    this.checkReply(turn, last.result?.run.status ?? '', message?.content ?? null, where);
  }

  private checkReply(turn: Turn, status: string, content: string | null, where: object): void {
    const whole = replyOf(turn.script);
    const right = status === 'completed' ? content === whole : whole.startsWith(content ?? '');
    if (!right)
      this.api.findings.add('reply', `A ${status} run has another reply than the model gave`, {
        ...where,
        whole,
        content,
      });
  }

  /** Looks for the run of a request whose answer was lost. @returns its id; undefined if nothing of it is stored */
  private async find({ thread, turn, after }: Request): Promise<string | undefined> {
    if (after !== undefined) {
      const { status, body } = await this.api.ask<{ runs: readonly { id: string }[] }>(
        'GET',
        `/v1/threads/${thread.id}/runs?limit=1`,
      );
      const newest = status === 200 ? body.runs[0]?.id : undefined;
      return newest !== after ? newest : undefined;
    }
    const { status, body } = await this.api.ask<{
      messages: readonly { clientId: string | null; runId: string | null }[];
    }>('GET', `/v1/threads/${thread.id}/messages`);
    if (status !== 200) return undefined;
    const message = body.messages.find(({ clientId }) => clientId === turn.clientId);
    if (message) turn.accepted = true;
    return message?.runId ?? undefined;
  }

  /** Waits for the run's end. */
  private async ended(request: Request, runId: string): Promise<Outcome> {
    const { thread, turn } = request;
    const began = performance.now();
    while (!this.api.isOver(began)) {
      const { status, body } = await this.api.until<RunAnswer>('GET', `/v1/threads/${thread.id}/runs/${runId}`);
      if (status !== 200) {
        this.api.findings.add('lost-run', `An acknowledged run cannot be read: ${status}`, {
          ...evidence(request),
          runId,
        });
        throw new Unresolved('run');
      }
      if (body.run.status !== 'running') {
        const content = body.message?.content ?? null;
        const outcome = { runId, status: body.run.status, errorCode: body.run.error?.code ?? null, content };
        turn.ended.push(outcome);
        this.checkReply(turn, outcome.status, content, { run: runId });
        return { ...outcome, interrupts: body.interrupts };
      }
      await sleep(AGAIN_MS);
    }
    this.api.findings.add('running', 'A run does not end', { ...evidence(request), runId });
    throw new Unresolved('run');
  }
}

/** What a customer does while it reads a stream. */
class Beside {
  private readonly api: Api;
  private readonly request: Request;
  private readonly stream: RunStream;
  private readonly service: Service;
  private readonly leaving: AbortController;
  private work: Promise<void> | undefined;
  private follower: RunStream | undefined;

  constructor(
    api: Api,
    request: Request,
    stream: RunStream,
    { service, leaving }: { readonly service: Service; readonly leaving: AbortController },
  ) {
    this.api = api;
    this.request = request;
    this.stream = stream;
    this.service = service;
    this.leaving = leaving;
  }

  seen(): void {
    if (this.work || this.stream.events.length < EARLY || this.stream.hasEnded) return;
    switch (this.request.beside) {
      case 'nothing':
        return;
      case 'leave':
        this.work = Promise.resolve();
        this.leaving.abort();
        return;
      case 'cancel':
        this.work = this.cancel();
        return;
      case 'follow':
        this.work = this.follow();
        return;
      default:
        this.request.beside satisfies never;
    }
  }

  async settled(): Promise<void> {
    await this.work;
    const { follower, stream } = this;
    if (!follower?.hasEnded || !stream.hasEnded) return;
    const finished = stream.last?.type === 'RUN_FINISHED';
    const where = { run: stream.runId, follower: follower.last, replica: this.api.other(this.service).name };
    if (finished && follower.last?.type === 'RUN_ERROR' && !this.api.servesFormer)
      this.api.findings.add(
        'told-failure',
        'A follower on the other replica was told that a run failed which succeeded',
        where,
      );
    const isSame = stream.fromDatabase ? follower.text.startsWith(stream.text) : follower.text === stream.text;
    if (finished && follower.last?.type === 'RUN_FINISHED' && !isSame)
      this.api.findings.add('follower', 'A follower on the other replica read another text', {
        ...where,
        text: follower.text,
      });
  }

  private async cancel(): Promise<void> {
    const { thread } = this.request;
    const began = performance.now();
    const path = `/v1/threads/${thread.id}/runs/${this.stream.runId ?? ''}/cancel`;
    await this.api.until('POST', path, { withinMs: PATIENCE_MS }).catch(() => undefined);
    const ended = (): void => void cancelledAfterMs.push(Math.round(performance.now() - began));
    const deadline = performance.now() + 60_000;
    while (!this.stream.hasEnded && performance.now() < deadline) await sleep(20);
    if (this.stream.hasEnded) ended();
  }

  private async follow(): Promise<void> {
    const follower = new RunStream(this.api);
    follower.runId = this.stream.runId;
    this.follower = follower;
    const service = this.api.other(this.service);
    const reading = await follower.rejoin(this.request.thread.id, service);
    if (reading === 'silent')
      this.api.findings.add('silent-end', 'A follower was disconnected without a terminal event', {
        ...{ ...evidence(this.request), run: follower.runId, replica: service.name, log: service.generation?.log },
      });
  }
}

function evidence({ thread, turn, mode, after }: Request): Readonly<Record<string, unknown>> {
  return { thread: thread.id, message: turn.script.number, nonce: turn.script.nonce, mode, after };
}
