import { DomainError } from '../errors/index.js';

/** A body of another kind than the route reads. */
export class UnsupportedBody extends DomainError {
  private constructor(message: string) {
    super('unsupported_media_type', message, { code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' });
  }

  static ofType(accepted: string): UnsupportedBody {
    return new UnsupportedBody(`The content type of the body is not supported here; send ${accepted}.`);
  }

  static ofEncoding(encoding: string): UnsupportedBody {
    return new UnsupportedBody(
      `The content encoding ${JSON.stringify(encoding)} is not supported; send the body uncompressed, without Content-Encoding.`,
    );
  }
}
