import { Module } from '@nestjs/common';
import { Clock } from '../platform/clock/index.js';
import { Settings } from '../platform/config/index.js';
import { ChildProcesses } from '../platform/processes/index.js';
import { EmbedTexts } from './application/embed-texts.js';
import { ModelGateway } from './application/model-gateway.js';
import { QueryEmbeddings } from './application/query-embeddings.js';
import { AgentLoops } from './domain/agent-loop.js';
import { EmbeddingModel } from './domain/embedding-model.js';
import { ProviderModelsController } from './http/provider-models.controller.js';
import { OpenAiEmbeddings } from './providers/embeddings/openai-embeddings.runtime.js';
import { ProviderLoops } from './providers/service-parts.js';
import { ModelTransport } from './providers/shared/transport.js';

@Module({
  controllers: [ProviderModelsController],
  providers: [
    { provide: ModelTransport, useFactory: (clock: Clock) => new ModelTransport(clock), inject: [Clock] },
    {
      provide: EmbeddingModel,
      useFactory: ({ embeddings }: Settings, transport: ModelTransport, clock: Clock) =>
        new OpenAiEmbeddings(embeddings, transport, clock),
      inject: [Settings, ModelTransport, Clock],
    },
    { provide: AgentLoops, useClass: ProviderLoops },
    ...[ChildProcesses, EmbedTexts, ModelGateway, QueryEmbeddings],
  ],
  exports: [AgentLoops, EmbeddingModel, EmbedTexts, ModelGateway, QueryEmbeddings],
})
export class ModelsModule {}
