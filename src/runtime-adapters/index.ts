export { AgentRuntimeRouter } from './agent-runtime-router.js';
export { RuntimeAdaptersModule } from './runtime-adapters.module.js';
