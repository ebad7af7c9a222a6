import { Injectable } from '@nestjs/common';
import { AgentDirectory, AgentRouting, type RunnableAgent } from '../../agents/index.js';
import {
  addKnownUsage,
  addUsage,
  creditsFor,
  findModel,
  ModelFailure,
  ModelGateway,
  type ModelRequest,
  type ModelUsage,
  NO_USAGE,
  providerOf,
} from '../../models/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { agentDeleted, runFailed } from '../domain/conversations.errors.js';
import type { InputMessage } from '../domain/new-thread.js';
import { HookDispatcher } from '../engine/hook-dispatcher.js';
import { publicFailure } from '../engine/resolve-failure.js';
import { RunObservers } from '../engine/run-observers.js';
import { insertSuggestionUsage } from '../persistence/suggestion-usage.sql.js';
import { AdmitRun } from './admit-run.js';
import { readSuggestions, suggestionPrompt, SUGGESTIONS_FORMAT } from './suggest-next.prompt.js';

/** For hooks and model together: later suggestions are of no use to the user. */
const TIME_LIMIT_MS = 30_000;
/** A longer answer has no suggestions. */
const MAX_ANSWER_LENGTH = 8_000;
/** The model is called again when it does not answer with suggestions. */
const ATTEMPTS = 2;

/** Asks the agent's model for short messages that the user could send next. Only the usage of the calls is stored. */
@Injectable()
export class SuggestNext {
  constructor(
    private readonly agents: AgentDirectory,
    private readonly routing: AgentRouting,
    private readonly models: ModelGateway,
    private readonly admitRun: AdmitRun,
    private readonly hooks: HookDispatcher,
    private readonly observers: RunObservers,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /**
   * @param messages oldest first; empty for the beginning of a conversation
   * @param disconnected aborts when the caller disconnects, which ends the call of the model
   * @returns exactly three, or none when a hook blocks the user's newest message
   * @throws DomainError `unprocessable`, `unavailable`, `bad_gateway` or `gateway_timeout`, as for a waiting run
   * @throws the reason of `disconnected`
   */
  async execute(
    organizationId: string,
    agentId: string,
    messages: readonly InputMessage[],
    disconnected: AbortSignal,
  ): Promise<string[]> {
    const agent = await this.agents.find(organizationId, agentId);
    if (!agent) throw agentDeleted();
    await this.admitRun.execute(organizationId, agent);
    const limit = new AbortController();
    const cancelLimit = this.clock.after(TIME_LIMIT_MS, () => {
      limit.abort();
    });
    const signal = AbortSignal.any([disconnected, limit.signal]);
    try {
      if (await this.isBlocked(agent, messages, signal)) return [];
      const suggestions = await this.ask(agent, messages, signal);
      if (suggestions) return suggestions;
    } catch (error) {
      if (disconnected.aborted) throw error;
      throw this.failure(agent, error, limit.signal);
    } finally {
      cancelLimit();
    }
    throw runFailed(
      { code: 'provider_error', message: 'The model did not answer with suggestions.' },
      { ownKey: false },
    );
  }

  private async isBlocked(
    agent: RunnableAgent,
    messages: readonly InputMessage[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const newest = messages.findLast(({ role }) => role === 'user');
    if (!newest) return false;
    return (await this.hooks.beforeSuggestions({ agent, prompt: newest.content, signal })) === 'block';
  }

  private async ask(
    agent: RunnableAgent,
    messages: readonly InputMessage[],
    signal: AbortSignal,
  ): Promise<string[] | null> {
    const calls: ModelUsage[] = [];
    try {
      const request = await this.request(agent, messages);
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        const answer = await this.answer(request, signal, calls);
        const suggestions = readSuggestions(answer);
        if (suggestions) return suggestions;
        this.logger.warn({ agentId: agent.id, characters: answer.length }, 'A model did not answer with suggestions');
      }
      return null;
    } finally {
      if (calls.length > 0) await this.recordUsage(agent, calls);
    }
  }

  private async answer(request: ModelRequest, signal: AbortSignal, calls: ModelUsage[]): Promise<string> {
    let text = '';
    let usage: ModelUsage | undefined;
    try {
      for await (const event of this.models.stream(request, signal)) {
        if (event.type === 'text') text += event.text;
        else if (event.type === 'usage' || event.type === 'stopped') ({ usage } = event);
        if (text.length > MAX_ANSWER_LENGTH) break;
      }
    } finally {
      if (usage) calls.push(usage);
    }
    return text;
  }

  private async request(agent: RunnableAgent, messages: readonly InputMessage[]): Promise<ModelRequest> {
    const { organizationId, id, provider, systemPrompt } = agent;
    const [apiKey, route] = await Promise.all([
      provider.useOwnApiKey ? this.agents.ownApiKey(organizationId, id) : undefined,
      this.routing.routeOf(agent),
    ]);
    const { system, text } = suggestionPrompt(systemPrompt, messages);
    return {
      model: provider.model,
      options: providerOf(provider.type).settings.quick,
      ...(apiKey === undefined ? {} : { apiKey }),
      ...(route === undefined ? {} : { route }),
      system,
      messages: [{ role: 'user', text }],
      tools: [],
      isSingle: true,
      responseFormat: SUGGESTIONS_FORMAT,
    };
  }

  /** For credits and analytics. Logs a failure instead of throwing it, so that the caller gets the suggestions. */
  private async recordUsage(
    { organizationId, id: agentId, provider }: RunnableAgent,
    calls: readonly ModelUsage[],
  ): Promise<void> {
    try {
      const { inputTokens, outputTokens, cachedInputTokens = null } = calls.reduce(addUsage, NO_USAGE);
      const model = findModel(provider.type, provider.model);
      const credits = provider.useOwnApiKey || !model ? 0 : creditsFor(model, calls.reduce(addKnownUsage, NO_USAGE));
      const records = this.observers.recordsOfSuggestions({
        ...{ id: newId(), organizationId, agentId, provider: provider.type, model: provider.model },
        ...{ at: this.clock.now(), inputTokens, outputTokens, cachedInputTokens, credits },
      });
      await insertSuggestionUsage(this.database, records);
    } catch (error) {
      this.logger.error({ err: error, agentId }, 'The usage of suggestions could not be stored');
    }
  }

  private failure(agent: RunnableAgent, error: unknown, limit: AbortSignal): unknown {
    if (limit.aborted) {
      return runFailed({ code: 'run_timeout', message: 'The model took too long.' }, { ownKey: false });
    }
    if (!(error instanceof ModelFailure)) return error;
    this.logger.warn({ agentId: agent.id, code: error.code, detail: error.facts.detail }, 'A model call failed');
    const failure = publicFailure(error);
    return runFailed(failure.error, failure.facts);
  }
}
