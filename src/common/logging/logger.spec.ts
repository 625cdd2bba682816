import { createLogger, type LogRedaction } from './logger.js';
import { NestLogger } from './nest-logger.js';

function recorded(level = 'trace', redaction?: LogRedaction) {
  const lines: string[] = [];
  const logger = createLogger({ level, redaction, destination: { write: (line) => lines.push(line) } });
  return { logger, lines, parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('the logger', () => {
  it('writes JSON lines with level, time and fields', () => {
    const { logger, parsed } = recorded();
    logger.info({ runId: 'r' }, '开始');
    expect(parsed()).toEqual([
      { level: 'info', time: expect.stringMatching(/^\d{4}-.*Z$/) as string, runId: 'r', msg: '开始' },
    ]);
  });

  it('shows nothing that stands under the name of a secret, at any of three depths', () => {
    const { logger, lines } = recorded();
    const secrets = { authorization: 'hidden', 'x-api-key': 'hidden', token: 'hidden', password: 'hidden' };
    logger.warn({ ...secrets, headers: secrets, request: { headers: secrets } }, 'refused');
    expect(lines.join('')).not.toContain('hidden');
    expect(lines.join('').match(/\[redacted\]/g)).toHaveLength(12);
  });

  it('takes known values out of every line, stacks included, from when they are known', () => {
    const redaction: LogRedaction = { redact: (text) => text };
    const { logger, lines } = recorded('info', redaction);
    redaction.redact = (text) => text.replaceAll('s3cr3t', '[redacted]');
    logger.error({ err: new Error('with s3cr3t') }, 'also s3cr3t');
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain('s3cr3t');
    expect(lines[0]).toContain('also [redacted]');
  });
});

describe('NestLogger', () => {
  it('keeps levels, contexts, errors and what else there is', () => {
    const { logger, parsed } = recorded();
    const nest = new NestLogger(logger);
    const error = new Error('broken');
    nest.log('started', 'Engine');
    nest.error('failed', error.stack, 'Engine');
    nest.error(error, 'Engine');
    nest.error('with cause', error, 'Engine');
    nest.warn({ runId: 'r' }, 'Engine');
    nest.debug('no context');
    nest.verbose('several', { a: 1 }, 'Engine');
    nest.fatal('gone');
    expect(parsed()).toMatchObject([
      { level: 'info', msg: 'started', context: 'Engine' },
      { level: 'error', msg: 'failed', context: 'Engine', stack: error.stack },
      { level: 'error', msg: 'broken', context: 'Engine', err: { message: 'broken', stack: error.stack } },
      { level: 'error', msg: 'with cause', context: 'Engine', err: { message: 'broken' } },
      { level: 'warn', runId: 'r', context: 'Engine' },
      { level: 'debug', msg: 'no context' },
      { level: 'trace', msg: 'several', detail: [{ a: 1 }], context: 'Engine' },
      { level: 'fatal', msg: 'gone' },
    ]);
  });

  it("lowers the framework's chatter", () => {
    const { logger, parsed } = recorded('info');
    const nest = new NestLogger(logger);
    nest.log('Mapped {/x, GET} route', 'RouterExplorer');
    nest.log('hello', 'Engine');
    expect(parsed()).toMatchObject([{ msg: 'hello' }]);
  });
});
