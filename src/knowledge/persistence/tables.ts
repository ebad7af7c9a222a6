import type { ContextSchema } from '../../platform/database/index.js';
import { crawlSchema } from './crawl.schema.js';
import { driveSchema } from './drive.schema.js';
import { embeddingsSchema } from './embeddings.schema.js';
import { knowledgeSchema } from './knowledge.schema.js';
import { uploadsSchema } from './uploads.schema.js';
import { websiteSchema } from './website.schema.js';

const schemas = [knowledgeSchema, embeddingsSchema, crawlSchema, websiteSchema, driveSchema, uploadsSchema];

/** All tables of the context. */
export const knowledgeTables: ContextSchema = {
  entities: schemas.flatMap(({ entities }) => entities),
  documents: schemas.flatMap(({ documents = [] }) => documents),
  migrations: schemas.flatMap(({ migrations }) => migrations),
};
