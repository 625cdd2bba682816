import { truncate, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import path from 'node:path';
import type { WorkflowDefinition } from '../../../src/workflows/index.js';
import type { ApiApp } from './api-app.js';
import { ApiClient, text, type Data } from './api-client.js';

/** A run whose workspace has files of these names and sizes (bytes). */
export async function createRunWithFiles(
  api: ApiApp,
  workflow: WorkflowDefinition,
  files: Record<string, number>,
): Promise<Data> {
  const { data } = await new ApiClient(api.url).post(`/workflows/${workflow.name}/runs`, {});
  const directory = await api.test.workspaces.create(text(data.runId));
  for (const [name, bytes] of Object.entries(files)) {
    await writeFile(path.join(directory, name), name);
    // Sparse: as large as one likes without taking room.
    await truncate(path.join(directory, name), bytes);
  }
  return data;
}

/** The answer to a download of the run's whole workspace, not read yet. */
export function openDownload(api: ApiApp, run: Data): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const target = api.url + text(run.links?.workspace);
    const outgoing = httpRequest(target, { agent: false, headers: { 'x-api-key': 'demo-key' } });
    outgoing.on('error', reject);
    outgoing.on('response', resolve);
    outgoing.end();
  });
}
