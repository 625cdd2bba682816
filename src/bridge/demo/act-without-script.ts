import type { AgentAnswer, AgentVisit } from '../agent.js';
import { cutText } from '../tools/cap-field.js';
import type { VisitReport } from './visit-report.js';

const REPORT = 'report.md';
/** Predecessors asked for; leaves room below the limit of tool calls. */
const MAX_READ = 40;
const EXCERPT_BYTES = 200;

interface Reading {
  nodeId: string;
  content: string;
}

/**
 * What the demo model does when its prompt does not drive it: reads what came before with the context tools,
 * writes it to report.md, and answers with a short digest, each only where it has the tool.
 */
export async function actWithoutScript(visit: AgentVisit, report: VisitReport): Promise<AgentAnswer> {
  const { toolbox, request } = visit;
  await report.think('The demo model looks at what came before and sums it up.');

  const readings: Reading[] = [];
  if (toolbox.has('get_predecessor_paths') && toolbox.has('get_node_output')) {
    await report.call('get_predecessor_paths', {});
    for (const nodeId of predecessorsIn(report.last, request.node_id).slice(0, MAX_READ)) {
      await report.call('get_node_output', { node_id: nodeId });
      readings.push({ nodeId, content: readable(report.last) });
    }
  }
  const writes = toolbox.has('write_file');
  if (writes) {
    await report.call('write_file', { path: REPORT, content: reportOf(request.prompt, readings) });
  }

  const text = digestOf(readings, writes);
  await report.say(text);
  return { text, data: null, finishReason: 'stop' };
}

/** The nodes of an answer to get_predecessor_paths without the asking one, in order of appearance. */
function predecessorsIn(answer: unknown, self: string): string[] {
  const paths = (answer as { paths?: { sequence?: string[] }[] } | null)?.paths ?? [];
  const ids = new Set(paths.flatMap(({ sequence }) => sequence ?? []));
  ids.delete(self);
  return [...ids];
}

function readable(answer: unknown): string {
  const data = (answer as { data?: unknown } | null)?.data ?? answer;
  return typeof data === 'string' ? data : JSON.stringify(data, null, 2);
}

function reportOf(prompt: string, readings: readonly Reading[]): string {
  const sections = readings.map(({ nodeId, content }) => `## ${nodeId}\n\n\`\`\`json\n${content}\n\`\`\`\n`);
  const read = sections.length > 0 ? sections.join('\n') : 'There was nothing to read.\n';
  return `# Report of the demo model\n\n${prompt.trim()}\n\n${read}`;
}

function digestOf(readings: readonly Reading[], wrote: boolean): string {
  const read = readings.map(({ nodeId, content }) => {
    const line = content.replace(/\s+/g, ' ');
    const excerpt = cutText(line, EXCERPT_BYTES);
    return `- ${nodeId}: ${excerpt}${excerpt === line ? '' : '…'}`;
  });
  const first = `Demo model: read ${readings.length} predecessor${readings.length === 1 ? '' : 's'}${wrote ? ` and wrote ${REPORT}` : ''}.`;
  return [first, ...read].join('\n');
}
