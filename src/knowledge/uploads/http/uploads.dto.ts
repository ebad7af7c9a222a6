import {
  EnumField,
  FileField,
  IntegerField,
  ObjectListField,
  ScalarMapField,
  StringField,
  TimestampField,
  type UploadedFile,
  UuidField,
} from '../../../platform/http/index.js';
import { MAX_SCOPE_ENTRIES, MAX_SCOPE_KEY_LENGTH, MAX_SCOPE_VALUE_LENGTH } from '../limits.js';

export class UploadedFileBody {
  @FileField({ description: 'At most 52,428,800 bytes, of any type.' })
  readonly file!: UploadedFile;
  @StringField({
    optional: true,
    description:
      `A JSON object of at most ${MAX_SCOPE_ENTRIES} strings, numbers or booleans (keys of at most ${MAX_SCOPE_KEY_LENGTH}, strings of at most ` +
      `${MAX_SCOPE_VALUE_LENGTH} characters): only runs whose userContext holds all its entries see the file. 1 is not "1"; numbers stay within 2^53. ` +
      'An object without entries has the same effect as no scope.',
    example: '{"customerId": "c-17"}',
  })
  readonly scope?: string;
}

export class KnowledgeFileResponse {
  @UuidField({ description: '`{fileId}` in the path that deletes it, and the `sourceId` of search results.' })
  readonly id!: string;
  @StringField({ description: 'Name of the file as it was uploaded.' })
  readonly name!: string;
  @StringField({ description: 'The content type of the upload, without parameters.' })
  readonly contentType!: string;
  @IntegerField({ description: 'In bytes.' })
  readonly size!: number;
  @EnumField(['processing', 'ready', 'failed'], { description: 'The agent finds its text once it is `ready`.' })
  readonly status!: string;
  @StringField({ nullable: true, description: 'Why it failed; null otherwise.' })
  readonly error!: string | null;
  @TimestampField({ description: 'When it was uploaded.' })
  readonly createdAt!: string;
  @ScalarMapField({ nullable: true, description: 'Null if every run sees the file.' })
  readonly scope!: Readonly<Record<string, string | number | boolean>> | null;
  @IntegerField({
    description: 'The number of chunks into which the text was split for the search; 0 until it is ready.',
  })
  readonly chunks!: number;
  @IntegerField({ description: "The size of the chunks' text in UTF-8; 0 until it is ready." })
  readonly bytes!: number;
}

export class KnowledgeFileListResponse {
  @ObjectListField(() => KnowledgeFileResponse, { description: 'Newest first.' })
  readonly files!: readonly KnowledgeFileResponse[];
}
