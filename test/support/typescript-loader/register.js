/**
 * `node --import` this, and TypeScript modules run from their sources: for worker threads that tests start, which
 * jest's own transform does not reach.
 */
import { register } from 'node:module';

register('./hooks.js', import.meta.url);
