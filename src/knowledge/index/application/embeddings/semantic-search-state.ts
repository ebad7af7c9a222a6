import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { EmbeddingModel } from '../../../../models/index.js';
import { HealthFact } from '../../../../platform/http/index.js';
import { Logger } from '../../../../platform/telemetry/index.js';
import { VectorTable } from '../../persistence/vector-table.js';
import { EmbeddingModels } from './embedding-models.js';

/** Whether this process can search by meaning: it needs an embedding model in the settings and a database that can store vectors. */
@Injectable()
export class SemanticSearchState extends HealthFact implements OnApplicationBootstrap {
  readonly name = 'knowledgeSearch';
  readonly values = ['keywords', 'hybrid'];
  readonly description =
    'How knowledge is searched: by keywords and meaning, or by keywords alone, because no embedding model is set or the database lacks the vector extension.';
  private ready = false;
  private lastReason: string | undefined;

  constructor(
    private readonly endpoint: EmbeddingModel,
    private readonly table: VectorTable,
    private readonly models: EmbeddingModels,
    private readonly logger: Logger,
  ) {
    super();
  }

  value(): string {
    return this.ready ? 'hybrid' : 'keywords';
  }

  get isReady(): boolean {
    return this.ready;
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.endpoint.model === undefined) this.explain('no embedding model is set (EMBEDDINGS_MODEL)');
    else await this.prepare();
  }

  /** Tries again if it failed before: the extension may have been installed, or the database may be available again. Never throws. */
  async prepare(): Promise<void> {
    if (this.ready || this.endpoint.model === undefined) return;
    try {
      const obstacle = await this.table.create();
      if (obstacle !== undefined) {
        this.explain(obstacle);
        return;
      }
      await this.models.applyConfigured();
      this.ready = true;
      this.lastReason = undefined;
      this.logger.info({ model: this.endpoint.model }, 'Knowledge is searched by keywords and meaning');
    } catch (error) {
      this.explain('the table of vectors could not be created', error);
    }
  }

  /** Logs each reason once, since `prepare` is called repeatedly. */
  private explain(reason: string, error?: unknown): void {
    if (this.lastReason === reason) return;
    this.lastReason = reason;
    const fields = { reason, ...(error === undefined ? {} : { err: error }) };
    if (this.endpoint.model === undefined) this.logger.info(fields, 'Knowledge is searched by keywords alone');
    else this.logger.warn(fields, 'Knowledge is searched by keywords alone');
  }
}
