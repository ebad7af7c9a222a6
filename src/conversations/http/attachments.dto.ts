import type { AttachmentReference } from '../../files/index.js';
import { ValidationFailed } from '../../platform/errors/index.js';
import {
  field,
  type FieldOptions,
  ObjectListField,
  rule,
  withMessage,
  StringField,
  validated,
} from '../../platform/http/index.js';
import { REQUEST_ATTACHMENTS } from '../engine/limits.js';

/** Signed URLs of file stores can be long. Not for data URLs, which the body's limit bounds. */
const MAX_URL_LENGTH = 8_192;
const MAX_NAME_LENGTH = 255;

/** Of one message: as many as one request to a model may have. */
export const MAX_ATTACHMENTS = REQUEST_ATTACHMENTS;

/** Of all messages of one request together. */
export const MAX_ATTACHMENTS_OF_REQUEST = 50;

function AttachmentUrlField(options: FieldOptions): PropertyDecorator {
  const wanted = withMessage(`must be an absolute URL of at most ${MAX_URL_LENGTH} characters, or a data URL`);
  return field(
    options,
    { type: 'string', format: 'uri' },
    rule('isUri', (value) => typeof value === 'string' && isUri(value), wanted),
  );
}

/** Data URLs are not parsed here, since the parser would copy their content twice. */
function isUri(value: string): boolean {
  return /^data:/i.test(value) || (value.length <= MAX_URL_LENGTH && URL.canParse(value));
}

export class AttachmentBody {
  @StringField({ min: 1, max: MAX_NAME_LENGTH, description: 'Name of the file, which the model reads.' })
  readonly name!: string;
  @AttachmentUrlField({
    description:
      'The `url` of an upload, a public `http` or `https` URL of at most 8,192 characters, or a data URL. What is ' +
      'elsewhere is fetched once, before the message is accepted, and kept.',
  })
  readonly url!: string;
  @StringField({
    min: 1,
    max: 255,
    description:
      'Images (PNG, JPEG, GIF, WebP) and PDFs must be what they are declared to be; all else is read as text.',
  })
  readonly contentType!: string;
}

export const ATTACHMENTS_DESCRIPTION =
  'Images, PDFs (each at most 20,971,520 bytes, together 29,360,128 bytes in base64) and text files (each at most ' +
  '1,048,576 bytes) that the model is given with the message. One that cannot be used is `422`, and nothing is stored; ' +
  'while the service holds as many of them as it has memory for it is `503` with `Retry-After`.';

export class AttachmentResponse {
  @StringField({ description: 'As the client sent it.' })
  readonly name!: string;
  @StringField({ description: 'As the client sent it; for uploads and data URLs signed, and readable for one hour.' })
  readonly url!: string;
  @StringField({ description: 'What the content is.' })
  readonly contentType!: string;
}

class AttachmentsBody {
  @ObjectListField(() => AttachmentBody, { optional: true, max: MAX_ATTACHMENTS })
  readonly attachments?: readonly AttachmentBody[];
}

/** Counts the attachments of a request while they are read, since reading each costs more than counting it. */
export class AttachmentCount {
  private count = 0;

  /** @throws ValidationFailed when there are too many */
  add(attachments: readonly unknown[]): void {
    this.count += attachments.length;
    if (this.count <= MAX_ATTACHMENTS_OF_REQUEST) return;
    throw new ValidationFailed(`body/messages must have at most ${MAX_ATTACHMENTS_OF_REQUEST} attachments altogether`);
  }
}

/** @param path the path of the message @throws ValidationFailed naming the field */
export function readAttachments(attachments: unknown, path: string): readonly AttachmentReference[] {
  return validated(AttachmentsBody, { attachments }, path).attachments ?? [];
}
