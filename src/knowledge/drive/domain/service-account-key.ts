import { ValidationFailed } from '../../../platform/errors/index.js';

/** What is kept of a key file. Every address in it is left out: requests go to those of the settings. */
export interface ServiceAccountKey {
  readonly clientEmail: string;
  readonly projectId: string;
  readonly privateKeyId: string | null;
  /** PKCS #8, PEM. */
  readonly privateKey: string;
}

const MAX_KEY_LENGTH = 16_384;
const MAX_TEXT = 320;

/**
 * Reads the fields of a key file; whether the private key is one is found out by signing with it.
 * @throws ValidationFailed that says what is wrong and quotes nothing of the file
 */
export function parseKeyFile(content: string): ServiceAccountKey {
  const file = parsed(content);
  if (file['type'] !== 'service_account') {
    throw refused("is not the key file of a service account: its 'type' is not 'service_account'");
  }
  const privateKey = textOf(file, 'private_key', MAX_KEY_LENGTH);
  const clientEmail = textOf(file, 'client_email', MAX_TEXT);
  if (!/^[^\s@]+@[^\s@]+$/.test(clientEmail)) throw refused("is not a key file: its 'client_email' is not an e-mail address");
  const id = file['private_key_id'];
  return {
    clientEmail,
    projectId: textOf(file, 'project_id', MAX_TEXT),
    privateKeyId: typeof id === 'string' && id !== '' && id.length <= MAX_TEXT ? id : null,
    privateKey,
  };
}

export function refused(what: string): ValidationFailed {
  return new ValidationFailed(`body/keyFileContent ${what}`);
}

function parsed(content: string): Readonly<Record<string, unknown>> {
  let file: unknown;
  try {
    file = JSON.parse(content);
  } catch {
    // The parser's own message quotes what it stumbled over, which may be a part of the key.
    throw refused('must hold the JSON key file as it was downloaded, as plain JSON text (not base64)');
  }
  if (typeof file !== 'object' || file === null || Array.isArray(file)) throw refused('must hold a JSON object');
  return file as Readonly<Record<string, unknown>>;
}

function textOf(file: Readonly<Record<string, unknown>>, name: string, max: number): string {
  const value = file[name];
  if (typeof value !== 'string' || value === '') throw refused(`is not complete: it lacks '${name}'`);
  if (value.length > max || !value.isWellFormed() || value.includes('\0')) throw refused(`is not a key file: its '${name}' is too long or holds characters that no key file has`);
  return value;
}
