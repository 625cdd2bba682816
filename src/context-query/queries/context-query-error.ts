/** Thrown when a context query is refused; `code` is the answer's code and its HTTP status (decision 21). */
export class ContextQueryError extends Error {
  constructor(
    readonly code: 400 | 401 | 403 | 404 | 503,
    message: string,
  ) {
    super(message);
    this.name = new.target.name;
  }
}
