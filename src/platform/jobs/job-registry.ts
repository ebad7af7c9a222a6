import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { type JobDefinition, JobHandler } from './job.js';

/** A definition without regard to its payload, which its schema checks wherever it enters. */
export type AnyJob = JobDefinition<unknown>;
export type AnyHandler = JobHandler<unknown>;

/** What one `JobsModule.define` declares. */
export class DeclaredJobs {
  constructor(readonly jobs: readonly AnyJob[]) {}
}

/** Knows every job of the application and its handler, found among the providers. */
@Injectable()
export class JobRegistry {
  private readonly definitions = new Map<string, AnyJob>();
  private readonly handlers = new Map<string, AnyHandler>();

  constructor(private readonly discovery: DiscoveryService) {}

  /** @throws Error, which stops the start, when a name is taken twice or a job has not exactly one handler. */
  discover(): void {
    const providers = new Set(this.discovery.getProviders().map(({ instance }): unknown => instance));
    for (const provider of providers) {
      if (provider instanceof DeclaredJobs) provider.jobs.forEach((job) => { this.declare(job); });
    }
    for (const provider of providers) if (provider instanceof JobHandler) this.register(provider);
    for (const name of this.definitions.keys()) {
      if (!this.handlers.has(name)) throw new Error(`The job ${name} has no handler`);
    }
  }

  all(): AnyJob[] {
    return [...this.definitions.values()];
  }

  definition(name: string): AnyJob | undefined {
    return this.definitions.get(name);
  }

  handler(name: string): AnyHandler | undefined {
    return this.handlers.get(name);
  }

  private declare(job: AnyJob): void {
    const known = this.definitions.get(job.name);
    if (known && known !== job) throw new Error(`Two jobs have the name ${job.name}`);
    this.definitions.set(job.name, job);
  }

  private register(handler: AnyHandler): void {
    const { name } = handler.job;
    const handlerName = handler.constructor.name;
    if (this.definitions.get(name) !== handler.job) {
      throw new Error(`${handlerName} handles the job ${name}, which no module declares with JobsModule.define`);
    }
    const other = this.handlers.get(name);
    if (other) throw new Error(`The job ${name} has two handlers: ${other.constructor.name} and ${handlerName}`);
    this.handlers.set(name, handler);
  }
}
