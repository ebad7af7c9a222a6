import { TimeSlice } from '../../../platform/clock/index.js';
import { ValidationFailed } from '../../../platform/errors/index.js';
import { COMPUTE_SLICE_MS, MAX_EXCLUSIONS_OF_AGENT } from '../limits.js';
import { canonicalRoot, canonicalUrl } from './website-url.js';
import type { WebsiteRoot } from './website-root.js';

/** A site as the client wrote it. */
export interface RequestedSite {
  readonly rootUrl: string;
  readonly excludedUrls?: readonly string[] | undefined;
}

/** A site with canonical addresses. */
export type SiteConfig = Pick<WebsiteRoot, 'rootUrl' | 'excludedUrls'>;

/** Characters of glob patterns. They are refused in paths; hosts and queries may have them. */
const PATTERN_CHARACTERS = /[*[\]{}]/;
const ORIGIN = /^https?:\/\/[^/?#\\]+/i;
/** What `URL` drops silently: spaces around the text, tabs and line breaks anywhere. */
const DROPPED = /^[\p{Cc} ]|[\p{Cc} ]$|[\t\n\r]/u;

/** @throws ValidationFailed, naming the value that cannot be used */
export async function readSiteConfigs(requested: readonly RequestedSite[]): Promise<SiteConfig[]> {
  const count = requested.reduce((sum, { excludedUrls = [] }) => sum + excludedUrls.length, 0);
  if (count > MAX_EXCLUSIONS_OF_AGENT)
    throw new ValidationFailed(`body/configs must have at most ${MAX_EXCLUSIONS_OF_AGENT} excludedUrls in all`);
  const known = new Set<string>();
  const slice = new TimeSlice(COMPUTE_SLICE_MS);
  const configs: SiteConfig[] = [];
  for (const [index, { rootUrl: written, excludedUrls = [] }] of requested.entries()) {
    const field = `body/configs/${index}`;
    const root = isAbsolute(written) ? canonicalRoot(written) : null;
    if (!root)
      throw new ValidationFailed(
        `${field}/rootUrl ${quoted(written)} must be an absolute http or https URL without user name, password, encoded path steps and spaces around it`,
      );
    if (known.has(root.href))
      throw new ValidationFailed(
        `${field}/rootUrl ${quoted(written)} is the same site as another rootUrl: ${root.href}`,
      );
    known.add(root.href);
    const exclusions = new Set<string>();
    for (const [at, url] of excludedUrls.entries()) {
      exclusions.add(exclusionOf(url, root, `${field}/excludedUrls/${at}`));
      await slice.rest();
    }
    configs.push({ rootUrl: root.href, excludedUrls: [...exclusions] });
  }
  return configs;
}

function exclusionOf(written: string, root: URL, field: string): string {
  const refuse = (why: string): never => {
    throw new ValidationFailed(`${field} ${quoted(written)} ${why}`);
  };
  if (!isAbsolute(written))
    refuse('must be an absolute http or https URL without spaces around it, not a relative path');
  if (PATTERN_CHARACTERS.test(pathOf(written))) {
    refuse('must not be a pattern: everything at or below the address is excluded');
  }
  const url = canonicalUrl(written) ?? refuse('is not a usable URL');
  if (url.origin !== root.origin) refuse(`must be on the origin of its rootUrl, ${root.origin}`);
  return url.href;
}

/** With `//`: some parsers take `https:x` as a host, others as a relative path. */
function isAbsolute(written: string): boolean {
  return ORIGIN.test(written) && !DROPPED.test(written);
}

/** As written, without origin, query and fragment. */
function pathOf(written: string): string {
  return written.replace(ORIGIN, '').split(/[?#]/, 1)[0] ?? '';
}

const SHOWN_CHARACTERS = 200;

function quoted(text: string): string {
  return `'${text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text}'`;
}
