import type { AddressInfo } from 'node:net';
import { bridgeLogger } from './bridge-logger.js';
import { createBridgeServer } from './bridge-server.js';
import { takeSettings, type BridgeSettings } from './bridge-settings.js';
import { exitWithParent, stopOnSignals } from './process-end.js';
import type { BridgeAnnouncement } from './protocol.js';

/** The bridge process: serves until its parent is gone or it is told to stop. */
function main(): void {
  const settings = readSettings();
  const logger = bridgeLogger(settings.logLevel, [settings.secret, settings.llm?.apiKey ?? '']);
  const server = createBridgeServer(settings, logger);
  if (settings.exitsWithParent) exitWithParent();
  stopOnSignals(server, { hasParent: settings.exitsWithParent });
  server.once('error', (error) => {
    logger.error({ err: error }, 'the bridge cannot listen');
    process.exitCode = 1;
  });
  server.listen(settings.port, '127.0.0.1', () => {
    const announcement: BridgeAnnouncement = { port: (server.address() as AddressInfo).port };
    process.stdout.write(`${JSON.stringify(announcement)}\n`);
  });
}

function readSettings(): BridgeSettings {
  try {
    return takeSettings(process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'unknown error'}\n`);
    process.exit(1);
  }
}

main();
