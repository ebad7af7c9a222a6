import { StringField, UrlField } from '../../platform/http/index.js';

export class AuthorizeBody {
  @UrlField({
    plain: true,
    description:
      'Where the browser goes once the sign-in is completed; without user information, spaces and control characters.',
  })
  readonly redirectUrl!: string;
}

export class AuthorizeResponse {
  @StringField({ description: 'Where a person signs in, within 10 minutes.' })
  readonly authorizationUrl!: string;
}
