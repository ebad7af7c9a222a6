import type { z } from 'zod';

/** An error at the start that the operator can fix; `message` is one line with the reason. */
export class StartFailure extends Error {}

/** A wrong setting; `message` names it. */
export class InvalidSetting extends StartFailure {}

/** Never quotes the value, which may be a secret. */
export function invalid(variable: string, { issues }: z.ZodError): InvalidSetting {
  return new InvalidSetting(`${variable}: ${issues[0]?.message ?? 'is not valid'}`);
}
