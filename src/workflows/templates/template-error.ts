/** Thrown when a text is no valid template; the message says where and why. */
export class TemplateSyntaxError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TemplateSyntaxError';
  }
}

/** Thrown when a valid template could not be rendered: a filter's argument, or a limit of time or memory. */
export class TemplateRenderError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TemplateRenderError';
  }
}
