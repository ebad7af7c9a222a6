import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export function serviceVersion(): string {
  const manifest = fileURLToPath(new URL('../../../package.json', import.meta.url));
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}
