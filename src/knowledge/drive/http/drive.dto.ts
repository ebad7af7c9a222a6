import {
  BooleanField,
  EnumField,
  IntegerField,
  ObjectField,
  ObjectListField,
  StringField,
  StringListField,
  TimestampField,
  UrlField,
  UuidField,
} from '../../../platform/http/index.js';
import { MAX_FILE_ID_LENGTH, MAX_SELECTED } from '../limits.js';
import { SYNC_STATES, type SyncState } from '../../index/domain/sync-status.js';

const FILE_IDS = {
  min: 1,
  max: MAX_SELECTED,
  each: { min: 1, max: MAX_FILE_ID_LENGTH },
  description: 'Ids of files and folders in the drive; a folder includes everything below it. Duplicates count once.',
};

export class AddServiceAccountBody {
  @StringField({ min: 1, max: 65_536, description: 'The JSON key file of a service account, as plain JSON text.' })
  readonly keyFileContent!: string;
}

export class ServiceAccountResponse {
  @UuidField({ description: 'The `integrationId` of drive knowledge.' })
  readonly id!: string;
  @StringField({ description: 'Share files and folders of the drive with this address.' })
  readonly clientEmail!: string;
  @StringField({ description: 'The project in the key file.' })
  readonly projectId!: string;
  @UuidField({ description: 'The member who added it.' })
  readonly addedBy!: string;
  @TimestampField({ description: 'When it was added.' })
  readonly createdAt!: string;
  @IntegerField({ min: 0, description: 'Agents that use it.' })
  readonly agentCount!: number;
}

export class ServiceAccountListResponse {
  @ObjectListField(() => ServiceAccountResponse, { description: 'The oldest first.' })
  readonly serviceAccounts!: readonly ServiceAccountResponse[];
}

export class DeletedServiceAccountResponse {
  @UuidField({ description: 'The deleted account. The knowledge that agents had through it is deleted too.' })
  readonly id!: string;
  @BooleanField({ description: 'Always true.' })
  readonly deleted!: true;
}

export class DriveSetupBody {
  @UuidField({
    optional: true,
    description: 'A service account; required where several are available to the person who owns the API key.',
  })
  readonly integrationId?: string;
  @StringListField(FILE_IDS)
  readonly fileIds!: readonly string[];
}

export class DriveAuthorizeBody {
  @StringListField(FILE_IDS)
  readonly fileIds!: readonly string[];
  @UrlField({
    plain: true,
    description:
      'Where the browser goes once the sign-in is completed; without user information, spaces and control characters.',
  })
  readonly redirectUrl!: string;
}

export class DriveAuthorizeResponse {
  @StringField({ description: 'Where a person signs in, within 10 minutes.' })
  readonly authorizationUrl!: string;
}

export class DriveFileResponse {
  @StringField({ description: 'Id of the file or folder in the drive.' })
  readonly id!: string;
  @StringField({ description: 'Its name in the drive when it was selected.' })
  readonly name!: string;
  @StringField({ description: 'Its type in the drive.' })
  readonly mimeType!: string;
  @EnumField(['file', 'folder'], { description: 'A folder includes everything below it.' })
  readonly kind!: 'file' | 'folder';
}

export class DriveSyncResponse {
  @EnumField(SYNC_STATES, {
    description: '`PARTIAL_SUCCESS`: some file failed. `SUSPENDED`: there is nothing to sync.',
  })
  readonly state!: SyncState;
  @TimestampField({ nullable: true, description: 'The end of the last sync that did not fail.' })
  readonly lastSuccessfulSyncAt!: string | null;
  @StringField({
    nullable: true,
    description: 'The error of the last sync that ended; kept while another one is in progress.',
  })
  readonly lastError!: string | null;
  @TimestampField({ nullable: true, description: 'When the newest sync began; null before the first.' })
  readonly startedAt!: string | null;
}

export class DriveSourceResponse {
  @ObjectListField(() => DriveFileResponse, { description: 'The selected entries.' })
  readonly files!: readonly DriveFileResponse[];
  @UuidField({ description: 'The service account; for a sign-in, the id of the source.' })
  readonly integrationId!: string;
  @ObjectField(() => DriveSyncResponse, { description: 'The state of the newest sync.' })
  readonly sync!: DriveSyncResponse;
  @IntegerField({ min: 0, description: 'Chunks of its files in the index.' })
  readonly chunks!: number;
  @IntegerField({ min: 0, description: 'Bytes of their text, in UTF-8.' })
  readonly bytes!: number;
}
