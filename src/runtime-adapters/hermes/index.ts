export { BridgeUnavailableError, type BridgeEndpoint, type BridgeSource } from './bridge-endpoint.js';
export { BridgeSupervisor } from './bridge-supervisor.js';
export { contextInstructions } from './context-instructions.js';
export { HermesAdapter } from './hermes-adapter.js';
export { BRIDGE_SOURCE, HermesModule } from './hermes.module.js';
