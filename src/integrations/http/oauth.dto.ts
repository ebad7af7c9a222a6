import { StringField, UrlField } from '../../platform/http/index.js';

export class AuthorizeBody {
  @UrlField({ description: 'Where the browser goes once the sign-in is completed.' })
  readonly redirectUrl!: string;
}

export class AuthorizeResponse {
  @StringField({ description: 'Where a person signs in, within 10 minutes.' })
  readonly authorizationUrl!: string;
}
