import type { AgentRuntimeRequest, ContextPart } from './agent-runtime-request.js';
import { citationRule } from './source-refs.js';

/** The input envelope as text, for providers that take a prompt. */
export interface ComposedPrompt {
  /** Standing instructions; empty where there are none. */
  readonly system: string;
  /** What is asked, with its context and the form the answer must have. */
  readonly user: string;
}

export function composePrompt(request: AgentRuntimeRequest): ComposedPrompt {
  const { instructions, instruction } = request.inputEnvelope;
  return {
    system: instructions.trim(),
    user: [instruction, contextText(request), knowledgeText(request), formatText(request)]
      .filter((part) => part !== '')
      .join('\n\n'),
  };
}

/** Both as one text, for providers that know no system prompt of ours. */
export function composeText(request: AgentRuntimeRequest): string {
  const { system, user } = composePrompt(request);
  return system === '' ? user : `${system}\n\n${user}`;
}

export function contextText(request: AgentRuntimeRequest): string {
  return partsText('Context', request.inputEnvelope.contextSummary);
}

export function knowledgeText(request: AgentRuntimeRequest): string {
  return partsText('Knowledge', request.inputEnvelope.knowledge);
}

/** What the answer must look like: the format requirements, the output contract, the citation rule. */
export function formatText(request: AgentRuntimeRequest): string {
  const rules = [
    request.inputEnvelope.formatRequirements ?? '',
    contractRule(request),
    citationRule(request),
  ];
  const text = rules.filter((rule) => rule !== '').join('\n');
  return text === '' ? '' : `Format:\n${text}`;
}

function contractRule({ outputContract }: AgentRuntimeRequest): string {
  const limit = outputContract.maxLength ? `At most ${String(outputContract.maxLength)} characters.` : '';
  switch (outputContract.type) {
    case 'text':
      return limit;
    case 'json': {
      const schema = outputContract.schema
        ? ` It must satisfy this schema: ${JSON.stringify(outputContract.schema)}`
        : '';
      return `Answer with one JSON object and nothing else.${schema} ${limit}`.trim();
    }
    case 'sections':
      return `Answer in these sections, each under its heading: ${(outputContract.sections ?? []).join(', ')}. ${limit}`.trim();
  }
}

function partsText(title: string, parts: readonly ContextPart[]): string {
  if (parts.length === 0) return '';
  return `${title}:\n${parts.map(({ ref, text }) => `[${ref}] ${text}`).join('\n')}`;
}
