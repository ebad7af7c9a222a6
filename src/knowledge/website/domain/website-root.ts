/** A site that an agent knows. All addresses are canonical. */
export interface WebsiteRoot {
  readonly id: string;
  /** Its path ends with a slash; everything of its origin below that path is the site. */
  readonly rootUrl: string;
  /** Everything at or below these is left out. */
  readonly excludedUrls: readonly string[];
  /** The root alone: the crawl starts there and follows links. Anything else: just these pages. */
  readonly selectedUrls: readonly string[];
}

/** What a crawl of the site may go to: whole, or the pages that were picked. */
export function followsLinks({ rootUrl, selectedUrls }: WebsiteRoot): boolean {
  return selectedUrls.length === 1 && selectedUrls[0] === rootUrl;
}
