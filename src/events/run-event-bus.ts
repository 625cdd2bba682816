import { Injectable } from '@nestjs/common';
import { Subject, type Observable, type Subscription } from 'rxjs';
import type { RecordedRunEvent } from './run-event.js';

/** A subscriber that threw; the run it listened to went on. */
export interface SubscriberFailure {
  readonly subscriber: string;
  readonly event: RecordedRunEvent;
  readonly error: unknown;
}

/**
 * Hands every recorded event of this process to its subscribers (live tail, visit index, metrics), after it is
 * durable and in the order of its run. A subscriber that throws is reported on `failures` and disturbs nobody.
 */
@Injectable()
export class RunEventBus {
  readonly #events = new Subject<RecordedRunEvent>();
  readonly #failures = new Subject<SubscriberFailure>();
  readonly failures: Observable<SubscriberFailure> = this.#failures.asObservable();

  /** `subscriber` names the listener in failures. The handler runs synchronously and must be quick. */
  subscribe(subscriber: string, handle: (event: RecordedRunEvent) => void): Subscription {
    return this.#events.subscribe((event) => {
      try {
        handle(event);
      } catch (error) {
        // RxJS would rethrow it on a timer, which ends the process.
        this.#failures.next({ subscriber, event, error });
      }
    });
  }

  publish(event: RecordedRunEvent): void {
    this.#events.next(event);
  }
}
