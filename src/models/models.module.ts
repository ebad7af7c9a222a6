import { Module } from '@nestjs/common';
import { Clock } from '../platform/clock/index.js';
import { Settings } from '../platform/config/index.js';
import { secureRandomBytes } from '../platform/ids/index.js';
import { managedProvider, MODEL_RUNTIMES, ModelGateway, type ModelRuntimes } from './application/model-gateway.js';
import type { ModelRuntime } from './domain/model-runtime.js';
import type { ProviderType } from './domain/provider-type.js';
import { AnthropicRuntime } from './runtimes/anthropic.runtime.js';
import { GeminiRuntime } from './runtimes/gemini.runtime.js';
import { OpenAiResponsesRuntime } from './runtimes/openai-responses.runtime.js';
import type { ProviderAccess } from './runtimes/provider-call.js';
import { RetryingRuntime } from './runtimes/retrying.runtime.js';
import { SandboxRuntime } from './runtimes/sandbox.runtime.js';
import { ModelTransport } from './runtimes/transport.js';

type ProviderRuntime = new (access: ProviderAccess, transport: ModelTransport, clock: Clock) => ModelRuntime;

/** Chooses the runtime of each provider: its SDK behind the retries, or in demo mode the sandbox. */
export function modelRuntimes(settings: Settings, transport: ModelTransport, clock: Clock): ModelRuntimes {
  if (settings.demo) {
    const sandbox = new SandboxRuntime(clock);
    return { anthropic: sandbox, 'openai-responses': sandbox, gemini: sandbox };
  }
  const over = (provider: ProviderType, Runtime: ProviderRuntime): ModelRuntime => {
    const { apiKey, baseUrl } = managedProvider(settings, provider);
    return new RetryingRuntime(new Runtime({ managedKey: apiKey, baseUrl }, transport, clock), clock, randomFraction);
  };
  return {
    anthropic: over('anthropic', AnthropicRuntime),
    'openai-responses': over('openai-responses', OpenAiResponsesRuntime),
    gemini: over('gemini', GeminiRuntime),
  };
}

/** Uniform in 0 to 1. */
function randomFraction(): number {
  return secureRandomBytes(4).readUInt32BE() / 2 ** 32;
}

@Module({
  providers: [
    { provide: ModelTransport, useFactory: (clock: Clock) => new ModelTransport(clock), inject: [Clock] },
    { provide: MODEL_RUNTIMES, useFactory: modelRuntimes, inject: [Settings, ModelTransport, Clock] },
    ModelGateway,
  ],
  exports: [ModelGateway],
})
export class ModelsModule {}
