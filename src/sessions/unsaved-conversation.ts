import { isRecord } from '../common/is-record.ts'
import type { LastSavedFrame, SavedConversation } from '../conversation/replay/restore-state.ts'
import type { TranscriptChanges } from '../history/transcript-rows.ts'
import { entryJson, readEntry, readHead, readTerminal, valueJson } from '../history/transcript-schema.ts'

/**
 * The part of a conversation that a window couldn't store, as changes of the stored conversation. The agent host keeps it for the next
 * window.
 */
export interface UnsavedConversation {
  /** the session, which may not be in the stored list of sessions, either */
  cwd: string
  additionalDirectories: string[]
  changes: TranscriptChanges & { said: LastSavedFrame }
}

/** Returns the unsaved changes that the host kept for its agent with this id; `undefined` if there are none or they aren't valid. */
export function readUnsaved(note: unknown, hostedId: string): UnsavedConversation | undefined {
  if (!isRecord(note) || typeof note.cwd !== 'string' || !isRecord(note.changes)) return undefined
  const { replace, entries, terminals, head, said } = note.changes
  if (!isRecord(said) || said.hostedId !== hostedId || typeof said.frame !== 'number') return undefined
  if (!Array.isArray(entries) || !Array.isArray(terminals)) return undefined
  return {
    cwd: note.cwd,
    additionalDirectories: strings(note.additionalDirectories),
    changes: {
      replace: replace === true,
      entries: entries.flatMap(one =>
        isRecord(one) && typeof one.position === 'number'
          ? [{ position: one.position, entry: readEntry(JSON.stringify(one.entry), one.position, true) }]
          : [],
      ),
      terminals: terminals.flatMap(terminal => readTerminal(JSON.stringify(terminal)) ?? []),
      head: readHead(JSON.stringify(head)) as NonNullable<TranscriptChanges['head']>,
      said: { hostedId, frame: said.frame },
    },
  }
}

/**
 * Returns the stored conversation with the changes that couldn't be stored. If the stored conversation was written later, returns it
 * unchanged. If it can't be read, the result has only the changes.
 */
export function withUnsaved(
  stored: SavedConversation | undefined,
  { replace, entries, terminals, head, said }: UnsavedConversation['changes'],
): SavedConversation | undefined {
  const known = stored?.said?.hostedId === said.hostedId ? stored.said.frame : -1
  const end = Math.max(-1, ...entries.map(({ position }) => position)) + 1
  // a user's prompt is written without a frame of the agent
  if (known > said.frame || (known === said.frame && (stored?.entries.length ?? 0) > end)) return stored
  const all = new Map((replace ? [] : (stored?.entries ?? [])).entries())
  for (const { position, entry } of entries) all.set(position, entry)
  const byPosition = [...all].sort(([a], [b]) => a - b).map(([, entry]) => entry)
  if (byPosition.length === 0) return stored
  const shown = new Map((replace ? [] : (stored?.terminals ?? [])).map(one => [one.terminalId, one]))
  for (const terminal of terminals) shown.set(terminal.terminalId, terminal)
  return { entries: byPosition, terminals: [...shown.values()], head: { ...stored?.head, ...head }, said }
}

/** Returns the changes as JSON for the host; `undefined` if they exceed `maxBytes`. Stops counting at that size, to be fast. */
export function asSent(
  { entries, terminals, ...changes }: UnsavedConversation['changes'],
  maxBytes: number,
): UnsavedConversation['changes'] | undefined {
  let bytes = 0
  const values = <T>(all: readonly T[], json: (one: T) => string | undefined) => {
    const sent: unknown[] = []
    for (const one of all) {
      if (bytes > maxBytes) break
      const text = json(one)
      if (text === undefined) continue
      bytes += text.length
      sent.push(JSON.parse(text))
    }
    return sent
  }
  const sent = {
    ...changes,
    entries: values(entries, ({ position, entry }) => `{"position":${position},"entry":${entryJson(entry)}}`),
    terminals: values(terminals, valueJson),
  } as UnsavedConversation['changes']
  return bytes > maxBytes ? undefined : sent
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(one => typeof one === 'string') : []
}
