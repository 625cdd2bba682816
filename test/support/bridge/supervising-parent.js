// A server of which only the bridge's supervisor is left: for tests that kill the parent. Usage: node FILE ENTRY
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const entry = process.argv[2];
const { BridgeSupervisor } = await import(
  pathToFileURL(resolve(entry, '../../runtime-adapters/hermes/bridge-supervisor.js')).href
);
const quiet = () => undefined;
const supervisor = new BridgeSupervisor({
  entry,
  settings: async () => ({
    llm: null,
    llmProblem: null,
    maxToolCalls: 50,
    allowDemo: true,
    logLevel: 'info',
  }),
  logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  redact: (text) => text,
  environment: process.env,
});
supervisor.start();
const endpoint = await supervisor.endpoint(new AbortController().signal);
process.stdout.write(`${JSON.stringify({ pid: supervisor.pid, ...endpoint })}\n`);
