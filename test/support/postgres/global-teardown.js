import { rm } from 'node:fs/promises';

export default async function stopPostgres() {
  const started = globalThis.testPostgres;
  if (!started) return;
  await started.server.stop();
  await rm(started.directory, { recursive: true, force: true });
  delete process.env.TEST_POSTGRES_URL;
}
