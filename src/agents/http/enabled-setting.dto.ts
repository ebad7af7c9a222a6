import { BooleanField } from '../../platform/http/index.js';

/** A boolean setting, in requests and responses alike. */
export class EnabledSetting {
  @BooleanField({ description: 'Whether it is on.' })
  readonly enabled!: boolean;
}
