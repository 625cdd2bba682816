/** Injection tokens of the engine's ports. */
export const RUN_DISPATCHER = Symbol('RunDispatcher');
