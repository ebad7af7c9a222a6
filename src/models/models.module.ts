import { Module } from '@nestjs/common';
import { Clock } from '../platform/clock/index.js';
import { Settings } from '../platform/config/index.js';
import { secureRandomBytes } from '../platform/ids/index.js';
import { ChildProcesses } from '../platform/processes/index.js';
import { AGENT_LOOPS, AgentLoops } from './application/agent-loops.js';
import { EmbedTexts } from './application/embed-texts.js';
import { MODEL_RUNTIMES, ModelGateway, type ModelRuntimes } from './application/model-gateway.js';
import { QueryEmbeddings } from './application/query-embeddings.js';
import { EmbeddingModel } from './domain/embedding-model.js';
import type { ModelRuntime } from './domain/model-runtime.js';
import { ProviderModelsController } from './http/provider-models.controller.js';
import { OpenAiEmbeddings } from './providers/embeddings/openai-embeddings.runtime.js';
import { MODEL_PROVIDERS, type ModelProvider } from './providers/index.js';
import { SandboxRuntime } from './providers/sandbox/sandbox.runtime.js';
import { LOOPS } from './providers/service-parts.js';
import { RetryingRuntime } from './providers/shared/retrying.runtime.js';
import { ModelTransport } from './providers/shared/transport.js';

/** Makes the runtime of each provider: its SDK with retries, or in demo mode the sandbox. */
export function modelRuntimes(settings: Settings, transport: ModelTransport, clock: Clock): ModelRuntimes {
  const sandbox = settings.demo ? new SandboxRuntime(clock) : undefined;
  const overSdk = (provider: ModelProvider): ModelRuntime => {
    const { apiKey, baseUrl } = settings.managedProvider(provider.environment);
    const load = async (): Promise<ModelRuntime> => {
      const Runtime = await provider.runtime();
      return new Runtime({ managedKey: apiKey, baseUrl }, transport, clock);
    };
    return new RetryingRuntime(load, clock, randomFraction);
  };
  return new Map(MODEL_PROVIDERS.map((provider) => [provider.type, sandbox ?? overSdk(provider)]));
}

/** Uniformly distributed from 0 to 1. */
function randomFraction(): number {
  return secureRandomBytes(4).readUInt32BE() / 2 ** 32;
}

@Module({
  controllers: [ProviderModelsController],
  providers: [
    { provide: ModelTransport, useFactory: (clock: Clock) => new ModelTransport(clock), inject: [Clock] },
    { provide: MODEL_RUNTIMES, useFactory: modelRuntimes, inject: [Settings, ModelTransport, Clock] },
    {
      provide: EmbeddingModel,
      useFactory: ({ embeddings }: Settings, transport: ModelTransport, clock: Clock) =>
        new OpenAiEmbeddings(embeddings, transport, clock),
      inject: [Settings, ModelTransport, Clock],
    },
    ...[EmbedTexts, QueryEmbeddings],
    ...[ChildProcesses, ...LOOPS, AgentLoops],
    { provide: AGENT_LOOPS, useFactory: (...loops: unknown[]) => loops, inject: [...LOOPS] },
    ModelGateway,
  ],
  exports: [AgentLoops, EmbeddingModel, EmbedTexts, ModelGateway, QueryEmbeddings],
})
export class ModelsModule {}
