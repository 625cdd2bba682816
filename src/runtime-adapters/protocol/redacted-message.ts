import type { SecretRedactor } from '../../credentials/index.js';

const MAX_CHARS = 500;

/** What looks like a secret although it is none of ours: a provider may quote somebody else's. */
const SECRET_FORMS = [
  /\b(?:Bearer|Basic)\s+[A-Za-z0-9+/=._~-]{6,}/gi,
  /\b(?:sk|app|dataset|pat|xox[abps])-[A-Za-z0-9_-]{8,}/g,
  /([?&](?:key|token|api_key|access_token|code|secret)=)[^&\s"']+/gi,
];

/** A provider's message, fit to be stored and shown: without secrets and markup, on one line, at most 500 characters. */
export function redactedMessage(text: string, redactor: SecretRedactor): string {
  let message = redactor.redact(text.slice(0, 20 * MAX_CHARS));
  for (const form of SECRET_FORMS) {
    message = message.replace(
      form,
      (_whole, kept: unknown) => `${typeof kept === 'string' ? kept : ''}[redacted]`,
    );
  }
  message = message
    .replace(/<[^<>]{0,200}>/g, ' ')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return message.length > MAX_CHARS ? `${message.slice(0, MAX_CHARS - 1)}…` : message;
}
