import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { ContextSchema } from '../../../platform/database/index.js';

/** `building`: its vectors are being made while another serves. `retired`: they are being removed. */
export type EmbeddingModelState = 'building' | 'serving' | 'retired';

/** A model that the service has vectors of, for the whole installation. */
export const StoredEmbeddingModel = defineEntity({
  name: 'StoredEmbeddingModel',
  tableName: 'knowledge_embedding_models',
  properties: {
    id: p.integer().primary().autoincrement(),
    /** The endpoint's name of the model. */
    name: p.text(),
    /** Numbers in a vector; null until the first vector. */
    dimensions: p.integer().strictNullable(),
    state: p.text().$type<EmbeddingModelState>(),
    /** The cosine that unrelated texts have; null until it is measured. */
    unrelated: p.float().columnType('double precision').strictNullable(),
    createdAt: p.datetime(3),
  },
});
export type StoredEmbeddingModel = InferEntity<typeof StoredEmbeddingModel>;

export const StoredEmbeddingLease = defineEntity({
  name: 'StoredEmbeddingLease',
  tableName: 'knowledge_embedding_leases',
  properties: {
    agentId: p.uuid().primary(),
    organizationId: p.uuid(),
    holder: p.uuid(),
    expiresAt: p.datetime(3),
  },
});

/** The table of vectors is not here: `VectorTable` creates it at the start, if the database has the extension. */
const base = [
  `create table knowledge_embedding_models (
    id integer generated always as identity primary key,
    name text not null,
    dimensions integer,
    state text not null check (state in ('building', 'serving', 'retired')),
    created_at timestamptz(3) not null,
    unrelated double precision
  )`,
  `create table knowledge_embedding_leases (
    agent_id uuid primary key,
    organization_id uuid not null references organizations (id) on delete cascade,
    holder uuid not null,
    expires_at timestamptz(3) not null
  )`,
];

export const embeddingsSchema: ContextSchema = { entities: [StoredEmbeddingModel, StoredEmbeddingLease], base };
