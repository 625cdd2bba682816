import type { AgentRuntimeRequest } from './agent-runtime-request.js';
import type { AgentRuntimeResponse, RuntimeOutput } from './agent-runtime-response.js';

/** How an answer names a source, in its text; a JSON answer may have `source_refs: [ref]` instead. */
const CITATION = /\[\[([^[\]\n]{1,200})\]\]/g;

/** What an answer may cite, and whether it must. */
export interface SourceRule {
  readonly required: boolean;
  /** The references of all that was sent. */
  readonly sent: ReadonlySet<string>;
}

export function sourceRuleOf(request: AgentRuntimeRequest): SourceRule {
  const { contextSummary, knowledge } = request.inputEnvelope;
  return {
    required: request.traceabilityPolicy.requireSourceRefs,
    sent: new Set([...contextSummary, ...knowledge].map(({ ref }) => ref)),
  };
}

/** What asks an agent for references that can be checked afterwards; empty where none are required. */
export function citationRule(request: AgentRuntimeRequest): string {
  const { required, sent } = sourceRuleOf(request);
  if (!required) return '';
  const refs = [...sent].map((ref) => `[[${ref}]]`).join(' ');
  return `Name every source you use as [[reference]]. Use these references and no others: ${refs}`;
}

/**
 * Where the answer comes from, so far as it can be proved: `muse_source_refs` only when it names sources and we sent
 * every one of them. What a provider knows by itself taints the whole answer, whatever it cites (§7).
 */
export function traceabilityOf(
  { sent }: SourceRule,
  output: RuntimeOutput,
  providerKnowledge: boolean,
): AgentRuntimeResponse['traceability'] {
  if (providerKnowledge) return 'untraceable_provider_context';
  const cited = citedRefs(output);
  return cited.length > 0 && cited.every((ref) => sent.has(ref)) ? 'muse_source_refs' : 'none';
}

function citedRefs(output: RuntimeOutput): string[] {
  const listed = output.data?.source_refs;
  const inData = Array.isArray(listed) ? listed.map((ref) => (typeof ref === 'string' ? ref : '')) : [];
  const inText = [...output.text.matchAll(CITATION)].map(([, ref]) => ref ?? '');
  return [...inData, ...inText];
}
