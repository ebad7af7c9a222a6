import type { ContextSchema } from '../platform/database/index.js';
import { driveSchema } from './drive/persistence/drive.schema.js';
import { embeddingsSchema } from './index/persistence/embeddings.schema.js';
import { knowledgeSchema } from './index/persistence/knowledge.schema.js';
import { uploadsSchema } from './uploads/persistence/uploads.schema.js';
import { websiteSchema } from './website/persistence/website.schema.js';

const schemas = [knowledgeSchema, embeddingsSchema, websiteSchema, driveSchema, uploadsSchema];

/** All tables of the context. */
export const knowledgeTables: ContextSchema = {
  entities: schemas.flatMap(({ entities }) => entities),
  documents: schemas.flatMap(({ documents = [] }) => documents),
  base: schemas.flatMap(({ base = [] }) => base),
  migrations: schemas.flatMap(({ migrations = [] }) => migrations),
};
