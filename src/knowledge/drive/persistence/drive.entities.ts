import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { z } from 'zod';
import { JsonDocument } from '../../../platform/database/index.js';
import { grantProperties, signInProperties } from '../../../platform/oauth/index.js';
import { selectedFile } from '../domain/drive-file.js';

export const FILES = new JsonDocument('drive_sources.files', z.array(selectedFile));
export const FILE_IDS = new JsonDocument('drive_sign_ins.file_ids', z.array(z.string()));

/** The grant of a sign-in, of a source. */
export const StoredDriveGrant = defineEntity({
  name: 'StoredDriveGrant',
  tableName: 'drive_grants',
  properties: grantProperties('source_id'),
});
export type StoredDriveGrant = InferEntity<typeof StoredDriveGrant>;

/** A sign-in that a person has begun, of an agent. */
export const StoredDriveSignIn = defineEntity({
  name: 'StoredDriveSignIn',
  tableName: 'drive_sign_ins',
  properties: {
    ...signInProperties('agent_id'),
    fileIds: FILE_IDS.property(),
    /** Where the drive sends the browser, as it was told. */
    redirectUri: p.text(),
  },
});
export type StoredDriveSignIn = InferEntity<typeof StoredDriveSignIn>;
