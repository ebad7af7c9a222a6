/** A column of a table that holds the keys of users (`UserKeys`), beside an `organization_id`. */
export interface UserColumn {
  readonly table: string;
  readonly column: string;
  /** The other columns of the unique key that contains the column. */
  readonly uniqueWith?: readonly string[];
  /** Statements look rows up by the column, so a process re-keys it before it serves requests. */
  readonly isLookedUp?: boolean;
}
