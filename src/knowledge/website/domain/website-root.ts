/** A site of an agent. All addresses are canonical. */
export interface WebsiteRoot {
  readonly id: string;
  /** Its path ends with a slash. The site is everything of its origin below that path. */
  readonly rootUrl: string;
  /** Everything at or below these is excluded. */
  readonly excludedUrls: readonly string[];
  /** With the root alone, the crawl begins there and follows links. Otherwise it visits just these pages. */
  readonly selectedUrls: readonly string[];
}

export function followsLinks({ rootUrl, selectedUrls }: WebsiteRoot): boolean {
  return selectedUrls.length === 1 && selectedUrls[0] === rootUrl;
}
