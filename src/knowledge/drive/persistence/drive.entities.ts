import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { z } from 'zod';
import { JsonDocument } from '../../../platform/database/index.js';
import { grantProperties, signInProperties } from '../../../platform/oauth/index.js';
import type { SyncState } from '../../index/domain/sync-status.js';
import { selectedFile } from '../domain/drive-file.js';
import type { ItemKind, ItemResult, ItemTodo, ItemVia } from '../domain/drive-item.js';
import type { DriveSourceKind, SyncPhase } from '../domain/drive-source.js';

const FILES = new JsonDocument('drive_sources.files', z.array(selectedFile));
const FILE_IDS = new JsonDocument('drive_sign_ins.file_ids', z.array(z.string()));

export const StoredServiceAccount = defineEntity({
  name: 'StoredDriveServiceAccount',
  tableName: 'drive_service_accounts',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    clientEmail: p.text(),
    projectId: p.text(),
    /** The member who added it. */
    addedBy: p.uuid(),
    createdAt: p.datetime(3),
  },
});
export type ServiceAccount = InferEntity<typeof StoredServiceAccount>;

/** A removed one stays, marked, until its documents are gone. */
export const StoredDriveSource = defineEntity({
  name: 'StoredDriveSource',
  tableName: 'drive_sources',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    kind: p.text().$type<DriveSourceKind>(),
    /** Of a service account. */
    accountId: p.uuid().strictNullable(),
    files: FILES.property(),
    state: p.text().$type<SyncState>(),
    lastSuccessfulSyncAt: p.datetime(3).strictNullable(),
    lastError: p.text().strictNullable(),
    startedAt: p.datetime(3),
    syncId: p.uuid(),
    phase: p.text().$type<SyncPhase>(),
    /** Everything is listed anew, so that what is not seen is gone. */
    isFull: p.boolean(),
    isTruncated: p.boolean(),
    changeToken: p.text().strictNullable(),
    changePages: p.integer(),
    /** Steps in a row that made no progress. */
    stalls: p.integer(),
    /** Of the step that works on it. */
    lease: p.uuid().strictNullable(),
    /** When the next step begins; while there is a lease, its end. */
    dueAt: p.datetime(3),
    nextSyncAt: p.datetime(3),
    removedAt: p.datetime(3).strictNullable(),
  },
});
export type StoredDriveSource = InferEntity<typeof StoredDriveSource>;

/** A file, folder or shortcut of a source, with the work that is left of it. */
export const StoredDriveItem = defineEntity({
  name: 'StoredDriveItem',
  tableName: 'drive_items',
  properties: {
    sourceId: p.uuid().primary(),
    fileId: p.text().primary(),
    organizationId: p.uuid(),
    kind: p.text().$type<ItemKind>(),
    via: p.text().$type<ItemVia>(),
    name: p.text(),
    mimeType: p.text(),
    url: p.text().strictNullable(),
    size: p.bigint('number').strictNullable(),
    fingerprint: p.text().strictNullable(),
    todo: p.text().$type<ItemTodo>().strictNullable(),
    pageToken: p.text().strictNullable(),
    /** Of a folder, that were read. */
    pages: p.integer(),
    /** How often its present work was begun. */
    attempts: p.integer(),
    result: p.text().$type<ItemResult>().strictNullable(),
    error: p.text().strictNullable(),
    documentId: p.uuid().strictNullable(),
    /** The sync that saw it last. */
    seenIn: p.uuid(),
  },
});
export type DriveItem = Readonly<InferEntity<typeof StoredDriveItem>>;

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
    /** Where the drive sends the browser. The token request has to repeat it (RFC 6749, 4.1.3). */
    redirectUri: p.text(),
  },
});
export type StoredDriveSignIn = InferEntity<typeof StoredDriveSignIn>;
