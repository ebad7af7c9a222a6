import { z } from 'zod';
import { ValidationFailed } from '../../../platform/errors/index.js';

const MAX_KEY_LENGTH = 16_384;
const MAX_TEXT = 320;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** The stored part of a key file. Its addresses are not stored: requests go to those in the settings. */
export const serviceAccountKey = z.object({
  clientEmail: z.string(),
  projectId: z.string(),
  privateKeyId: z.string().nullable(),
  /** PKCS #8, PEM. */
  privateKey: z.string(),
});
export type ServiceAccountKey = z.output<typeof serviceAccountKey>;

const keyFile = z.object(
  {
    type: z.literal('service_account', "is not the key file of a service account: its 'type' is not 'service_account'"),
    private_key: text('private_key', MAX_KEY_LENGTH),
    client_email: text('client_email', MAX_TEXT).regex(
      EMAIL,
      "is not a key file: its 'client_email' is not an e-mail address",
    ),
    project_id: text('project_id', MAX_TEXT),
    private_key_id: z.string().min(1).max(MAX_TEXT).nullable().catch(null),
  },
  'must be a JSON object',
);

/** Reads the fields of a key file, without a check of the private key. @throws ValidationFailed, whose message quotes nothing of the file */
export function parseKeyFile(content: string): ServiceAccountKey {
  let json: unknown;
  try {
    json = JSON.parse(content);
  } catch {
    // The parser's own message quotes the text at the error, which may be a part of the key.
    throw invalidKeyFile('must be the JSON key file as it was downloaded, as plain JSON text (not base64)');
  }
  const { data, error } = keyFile.safeParse(json);
  if (!data) throw invalidKeyFile(error.issues[0]?.message ?? 'is not a key file');
  return {
    clientEmail: data.client_email,
    projectId: data.project_id,
    privateKeyId: data.private_key_id,
    privateKey: data.private_key,
  };
}

export function invalidKeyFile(problem: string): ValidationFailed {
  return new ValidationFailed(`body/keyFileContent ${problem}`);
}

function text(name: string, max: number): z.ZodString {
  const missing = `is not complete: it lacks '${name}'`;
  const invalid = `is not a key file: its '${name}' is too long or has characters that are not allowed`;
  return z
    .string(missing)
    .min(1, missing)
    .max(max, invalid)
    .refine((value) => value.isWellFormed() && !value.includes('\0'), invalid);
}
