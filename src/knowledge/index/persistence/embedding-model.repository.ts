import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/clock/index.js';
import { Database, type SqlExecutor, type Transaction } from '../../../platform/database/index.js';

/** `building`: its vectors are being made while another serves. `retired`: they are being removed. */
export type EmbeddingModelState = 'building' | 'serving' | 'retired';

export interface StoredEmbeddingModel {
  readonly id: number;
  /** As the endpoint knows it. */
  readonly name: string;
  /** Numbers of a vector; null until the first one. */
  readonly dimensions: number | null;
  readonly state: EmbeddingModelState;
}

const LOCK = 'knowledge:embedding-models';

/** The models whose vectors there are: of the whole installation. */
@Injectable()
export class EmbeddingModelRepository {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** The newest first. */
  all(executor: SqlExecutor = this.database): Promise<StoredEmbeddingModel[]> {
    return executor.query('select id, name, dimensions, state from knowledge_embedding_models order by id desc');
  }

  /** One change of them at a time. */
  async lock(transaction: Transaction): Promise<void> {
    await transaction.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [LOCK]);
  }

  async add(transaction: Transaction, { name, dimensions, state }: Omit<StoredEmbeddingModel, 'id'>): Promise<void> {
    await transaction.query(
      `insert into knowledge_embedding_models (name, dimensions, state, created_at)
       values ($1, $2::integer, $3, $4::timestamptz)`,
      [name, dimensions, state, this.clock.now().toISOString()],
    );
  }

  async become(transaction: Transaction, id: number, state: EmbeddingModelState): Promise<void> {
    await transaction.query('update knowledge_embedding_models set state = $2 where id = $1::integer', [id, state]);
  }

  /** @returns the dimensions it has now: those of whoever was first */
  async learnDimensions(id: number, dimensions: number): Promise<number | undefined> {
    const [row] = await this.database.query<{ dimensions: number }>(
      `update knowledge_embedding_models set dimensions = coalesce(dimensions, $2::integer)
        where id = $1::integer returning dimensions`,
      [id, dimensions],
    );
    return row?.dimensions;
  }

  /**
   * The model that was being built serves from now on, in place of the one before, unless a chunk lacks its vector.
   * @returns whether it does
   */
  async serve(id: number): Promise<boolean> {
    const rows = await this.database.query(
      `update knowledge_embedding_models set state = case when id = $1::integer then 'serving' else 'retired' end
        where (id = $1::integer or state = 'serving')
          and exists (select 1 from knowledge_embedding_models where id = $1::integer and state = 'building')
          and not exists (select 1 from knowledge_chunks c where not exists (
                select 1 from knowledge_vectors v where v.chunk_id = c.id and v.model_id = $1::integer))
        returning id`,
      [id],
    );
    return rows.length > 0;
  }

  /** Removes a retired model whose vectors are gone. @returns whether it was one */
  async remove(id: number): Promise<boolean> {
    const rows = await this.database.query(
      `delete from knowledge_embedding_models where id = $1::integer and state = 'retired'
          and not exists (select 1 from knowledge_vectors where model_id = $1::integer)
        returning id`,
      [id],
    );
    return rows.length > 0;
  }
}
