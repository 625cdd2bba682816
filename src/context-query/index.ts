export { ContextQueryModule, installContextGate } from './context-query.module.js';
export {
  ContextTokens,
  type ContextTokenHolder,
  type ContextTokenSettings,
} from './tokens/context-tokens.js';
export { VisitIndex } from './visit-index/visit-index.js';
