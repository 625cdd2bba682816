import type { AgentRuntimeRequest, ContextPart, InputEnvelope } from '../protocol/agent-runtime-request.js';
import type { EnvelopePart } from './envelope-policy.js';
import type { PermissionEnvelope } from './permission-envelope.js';

/** Something that was kept back, and why. */
export interface Trimmed {
  /** `contextSummary`, `knowledge`, `formatRequirements` or `tools`. */
  part: EnvelopePart | 'tools';
  /** The context part's reference, or the tool's name; null for a part without one. */
  ref: string | null;
  reason: 'not_allowed' | 'over_max_chars' | 'tool_not_granted';
  /** Characters (code points) kept back; 0 for a tool. */
  chars: number;
}

export type GateDecision =
  | { passed: true; request: AgentRuntimeRequest; trimmed: Trimmed[] }
  | { passed: false; reason: string; trimmed: Trimmed[] };

/**
 * Lets through what the envelope allows. Context is trimmed, the last first; what the caller asks is never cut:
 * where it is not allowed or too long, the call is refused.
 */
export function passGate(request: AgentRuntimeRequest, envelope: PermissionEnvelope): GateDecision {
  const trimmed: Trimmed[] = [];
  const input = request.inputEnvelope;
  if (!envelope.allow.includes('instruction')) {
    return refused('the permission envelope does not allow `instruction`', trimmed);
  }
  const format = allowedFormat(input, envelope, trimmed);
  const asked = lengthOf(input.instruction) + lengthOf(format ?? '');
  if (asked > envelope.maxChars) {
    return refused(
      `${asked} characters are asked, the permission envelope allows ${envelope.maxChars}`,
      trimmed,
    );
  }
  const contextSummary = allowedContext('contextSummary', input.contextSummary, envelope, trimmed);
  const knowledge = allowedContext('knowledge', input.knowledge, envelope, trimmed);
  let room = envelope.maxChars - asked;
  const fit = (part: EnvelopePart, parts: readonly ContextPart[]): ContextPart[] =>
    parts.flatMap((one) => {
      // The reference leaves with its text, and might be the longer of the two.
      const kept = take(one.text, Math.max(0, room - lengthOf(one.ref)));
      const cut = lengthOf(one.text) - lengthOf(kept);
      const fits = lengthOf(one.ref) <= room && (kept !== '' || cut === 0);
      if (!fits || cut > 0) trimmed.push({ part, ref: one.ref, reason: 'over_max_chars', chars: cut });
      if (!fits) return [];
      room -= lengthOf(one.ref) + lengthOf(kept);
      return [{ ...one, text: kept }];
    });
  const inputEnvelope: InputEnvelope = {
    ...input,
    formatRequirements: format,
    contextSummary: fit('contextSummary', contextSummary),
    knowledge: fit('knowledge', knowledge),
  };
  return {
    passed: true,
    trimmed,
    request: {
      ...request,
      runtimePermissionEnvelopeId: envelope.id,
      inputEnvelope,
      workbench: grantedWorkbench(request, envelope, trimmed),
    },
  };
}

function refused(reason: string, trimmed: Trimmed[]): GateDecision {
  return { passed: false, reason, trimmed };
}

function allowedFormat(
  { formatRequirements }: InputEnvelope,
  envelope: PermissionEnvelope,
  trimmed: Trimmed[],
): string | null {
  if (formatRequirements === null || envelope.allow.includes('formatRequirements')) return formatRequirements;
  const chars = lengthOf(formatRequirements);
  trimmed.push({ part: 'formatRequirements', ref: null, reason: 'not_allowed', chars });
  return null;
}

function allowedContext(
  part: 'contextSummary' | 'knowledge',
  parts: readonly ContextPart[],
  envelope: PermissionEnvelope,
  trimmed: Trimmed[],
): readonly ContextPart[] {
  if (envelope.allow.includes(part)) return parts;
  for (const { ref, text } of parts) {
    trimmed.push({ part, ref, reason: 'not_allowed', chars: lengthOf(text) });
  }
  return [];
}

function grantedWorkbench(
  { workbench }: AgentRuntimeRequest,
  envelope: PermissionEnvelope,
  trimmed: Trimmed[],
): AgentRuntimeRequest['workbench'] {
  if (!workbench) return undefined;
  const granted = workbench.tools.filter((tool) => envelope.toolGrants.includes(tool));
  for (const tool of workbench.tools) {
    if (!granted.includes(tool)) {
      trimmed.push({ part: 'tools', ref: tool, reason: 'tool_not_granted', chars: 0 });
    }
  }
  return { ...workbench, tools: granted };
}

/** In code points: a policy counts characters, whatever their plane. */
function lengthOf(text: string): number {
  let surrogatePairs = 0;
  for (let at = 0; at < text.length; at += 1) {
    if ((text.codePointAt(at) ?? 0) > 0xffff) surrogatePairs += 1;
  }
  return text.length - surrogatePairs;
}

/** The first `length` code points. */
function take(text: string, length: number): string {
  if (text.length <= length) return text;
  let end = 0;
  for (let count = 0; count < length && end < text.length; count += 1) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}
