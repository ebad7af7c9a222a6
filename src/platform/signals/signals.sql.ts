/** SQL because the ORM knows no notifications. Every database has its own channels. */
import type { Client } from 'pg';
import { statement } from '../database/index.js';

const CHANNEL = 'agent_service_signals';

export const NOTIFY = statement({ text: 'text' }, (p) => `select pg_notify('${CHANNEL}', ${p.text})`);

export async function listen(connection: Client): Promise<void> {
  await connection.query(`listen ${CHANNEL}`);
}
