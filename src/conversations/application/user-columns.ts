import { Injectable } from '@nestjs/common';
import type { UserColumn } from '../domain/user-key.js';

/** All columns of the database that hold keys of users. Each context registers its own. */
@Injectable()
export class UserColumns {
  readonly #columns: UserColumn[] = [{ table: 'runs', column: 'session_user_key' }];

  register(...columns: readonly UserColumn[]): void {
    this.#columns.push(...columns);
  }

  get all(): readonly UserColumn[] {
    return this.#columns;
  }
}
