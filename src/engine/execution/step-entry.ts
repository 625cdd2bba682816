import type { JournalEntry } from '../../runs/journal/journal-entry.js';

/** An entry to which a step adds what it does. */
export function newEntry(): JournalEntry {
  return { events: [], begun: [], changed: [] };
}

/** Whether the step did nothing that has to be stored. */
export function isEmpty(entry: JournalEntry): boolean {
  return entry.events.length === 0 && !entry.begun?.length && !entry.changed?.length && !entry.end;
}
