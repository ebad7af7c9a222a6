/** A column of a table that holds the keys of users (`UserKeys`), beside an `organization_id`. */
export interface UserColumn {
  readonly table: string;
  readonly column: string;
  /** The other columns of a unique key that it belongs to. */
  readonly uniqueWith?: readonly string[];
  /** Rows are looked up by it, so a process re-keys them before it serves. */
  readonly isLookedUp?: boolean;
}
