import type { ReducingState } from './reducer/books.ts'
import type { ElicitationEntry, PermissionEntry } from './state.ts'

/** What waits for the person in a session and in its subagents, the oldest first. */
export function openQuestions({ books, entries }: ReducingState): Array<PermissionEntry | ElicitationEntry> {
  return [books, ...[...books.subagentStates.values()].map(subagent => subagent.books)]
    .flatMap(({ openPermissions, openElicitations }) => [...openPermissions, ...openElicitations])
    .sort((a, b) => a - b)
    .flatMap(position => {
      const entry = entries[position]
      return entry?.kind === 'permission' || entry?.kind === 'elicitation' ? [entry] : []
    })
}
