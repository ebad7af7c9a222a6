import {
  FileField,
  IntegerField,
  QueryStringField,
  StringField,
  type UploadedFile,
  UuidField,
} from '../../platform/http/index.js';

export class UploadBody {
  @FileField({
    description: 'At most 52,428,800 bytes. The content of an image or a PDF must match the declared type.',
  })
  readonly file!: UploadedFile;
  @UuidField({ optional: true, description: 'The agent whose budget the request counts against.' })
  readonly assistant_id?: string;
}

export class FileResponse {
  @UuidField({ description: 'Id of the file.' })
  readonly id!: string;
  @StringField({ description: 'Name of the file as it was uploaded.' })
  readonly name!: string;
  @StringField({ description: 'A signed URL that is valid for one hour. An attachment may refer to it for longer.' })
  readonly url!: string;
  @StringField({ description: 'Media type of the content.' })
  readonly contentType!: string;
  @IntegerField({ description: 'In bytes.' })
  readonly size!: number;
}

export class ContentQuery {
  @QueryStringField({ max: 20, description: 'Unix time in seconds.' })
  readonly expires!: string;
  @QueryStringField({ max: 100, description: 'Taken from the `url` of the file.' })
  readonly signature!: string;
}
