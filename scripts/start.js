/** `npm start`: builds when needed, then serves in this very process, so that signals reach the server. */
import { buildWhenStale } from './build.js';

buildWhenStale();
await import('../dist/main.js');
