import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { validateGraph } from './graph/validation/validate-graph.js';
import { workflowDocumentSchema } from './workflow-document.js';

const directory = path.resolve(import.meta.dirname, '../../examples');
const files = readdirSync(directory).filter((file) => file.endsWith('.json'));

describe('examples/', () => {
  it('has the workflow of the demo', () => expect(files).toContain('report-pipeline.json'));

  it.each(files)('%s can be imported under its own name', (file) => {
    const document = workflowDocumentSchema.parse(
      JSON.parse(readFileSync(path.join(directory, file), 'utf8')),
    );
    expect(`${document.name}.json`).toBe(file);
    expect(validateGraph(document)).toEqual([]);
  });
});
