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

/** A removed source stays, marked, until its documents are deleted. */
export const StoredDriveSource = defineEntity({
  name: 'StoredDriveSource',
  tableName: 'drive_sources',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    kind: p.text().$type<DriveSourceKind>(),
    /** The service account; null for a sign-in. */
    accountId: p.uuid().strictNullable(),
    files: FILES.property(),
    state: p.text().$type<SyncState>(),
    lastSuccessfulSyncAt: p.datetime(3).strictNullable(),
    lastError: p.text().strictNullable(),
    startedAt: p.datetime(3),
    syncId: p.uuid(),
    phase: p.text().$type<SyncPhase>(),
    /** The sync lists everything, so items that it does not see are removed. */
    isFull: p.boolean(),
    isTruncated: p.boolean(),
    changeToken: p.text().strictNullable(),
    changePages: p.integer(),
    /** Steps in a row that made no progress. */
    stalls: p.integer(),
    /** The id of the step that works on the source. */
    lease: p.uuid().strictNullable(),
    /** When the next step begins, or the present step's lease ends. */
    dueAt: p.datetime(3),
    nextSyncAt: p.datetime(3),
    removedAt: p.datetime(3).strictNullable(),
  },
});
export type StoredDriveSource = InferEntity<typeof StoredDriveSource>;

/** A file, folder or shortcut of a source, with the work that is still to be done on it. */
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
    /** Pages of the folder that were read. */
    pages: p.integer(),
    /** How often the present work was begun. */
    attempts: p.integer(),
    result: p.text().$type<ItemResult>().strictNullable(),
    error: p.text().strictNullable(),
    documentId: p.uuid().strictNullable(),
    /** The sync that saw it last. */
    seenIn: p.uuid(),
  },
});
export type DriveItem = Readonly<InferEntity<typeof StoredDriveItem>>;

/** The OAuth grant of a source. */
export const StoredDriveGrant = defineEntity({
  name: 'StoredDriveGrant',
  tableName: 'drive_grants',
  properties: grantProperties('source_id'),
});
export type StoredDriveGrant = InferEntity<typeof StoredDriveGrant>;

/** A sign-in that a person has begun, for an agent. */
export const StoredDriveSignIn = defineEntity({
  name: 'StoredDriveSignIn',
  tableName: 'drive_sign_ins',
  properties: {
    ...signInProperties('agent_id'),
    fileIds: FILE_IDS.property(),
    /** Where the drive sends the browser. The token request must repeat it (RFC 6749, 4.1.3). */
    redirectUri: p.text(),
  },
});
export type StoredDriveSignIn = InferEntity<typeof StoredDriveSignIn>;
