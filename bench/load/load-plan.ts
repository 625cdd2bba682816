/** One request of a plan; the body is sent as it is. */
export interface PlannedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a load worker sends: its requests in turn, at a fixed rate, whether answers come or not. */
export interface LoadPlan {
  readonly url: string;
  readonly requests: readonly PlannedRequest[];
  readonly requestsPerSecond: number;
  readonly seconds: number;
}

/** What came of it. */
export interface LoadResult {
  /** Milliseconds from sending to the end of the answer, ascending. */
  readonly latencies: readonly number[];
  /** Answers other than 200, and broken connections. */
  readonly failures: number;
  /** Bytes of an answer, on average. */
  readonly answerBytes: number;
}
