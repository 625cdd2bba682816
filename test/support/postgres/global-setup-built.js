/** For suites that start the real server: a PostgreSQL for their databases, and a build that is up to date. */
import { buildWhenStale } from '../../../scripts/build.js';
import startPostgres from './global-setup.js';

export default async function setup() {
  buildWhenStale();
  await startPostgres();
}
