import { chosenOption } from '../../conversation/permission-outcome.ts'
import type { Entry, PermissionEntry } from '../../conversation/state.ts'
import type { EntrySlot } from './slot.ts'

/** The last permission that was asked for a tool call. */
export function permissionOf({ permissions }: EntrySlot): PermissionEntry | undefined {
  const asked = permissions.value.at(-1)?.entry.value
  return asked?.kind === 'permission' ? asked : undefined
}

/** How the user prevented the tool call from running, if they did. */
export function refusalOf(call: EntrySlot): 'rejected' | 'canceled' | undefined {
  const asked = permissionOf(call)
  if (!asked?.outcome) return undefined
  if (asked.outcome.type === 'cancelled') return 'canceled'
  return chosenOption(asked)?.kind.startsWith('reject') ? 'rejected' : undefined
}

/** Connects permission requests with the tool calls that they are about. */
export class ToolPermissions {
  /** tool calls and permission requests by the id of the tool call; a subagent has its own ids. Almost always one of each. */
  readonly #slots = new Map<string, EntrySlot[]>()
  /** Their rows depend on tool calls and permissions that came, or went, since the rows were made. */
  readonly changed = new Set<EntrySlot>()

  /** An entry was added. `before`: the entry that it replaces, which may have had other ids. */
  add(slot: EntrySlot, before: Entry | undefined): void {
    const key = toolCallKey(slot.entry.peek())
    if (key !== undefined) this.#slots.set(key, [...(this.#slots.get(key) ?? []), slot])
    for (const one of new Set([key, before && toolCallKey(before)])) this.#connect(one)
    // the permission's answer, which may let an edit join a run of edits
    if (slot.call && before) this.changed.add(slot.call)
  }

  /** The entry is about to be replaced. */
  remove(slot: EntrySlot): void {
    const key = toolCallKey(slot.entry.peek())
    const rest = this.#slots.get(key ?? '')?.filter(one => one !== slot)
    if (key !== undefined && rest) this.#slots.set(key, rest)
  }

  /** The entry is gone. */
  drop(slot: EntrySlot): void {
    this.remove(slot)
    this.#connect(toolCallKey(slot.entry.peek()))
  }

  #connect(key = ''): void {
    const all = this.#slots.get(key) ?? []
    if (all.length === 0) this.#slots.delete(key)
    const ofKind = (kind: Entry['kind']) => all.filter(slot => slot.entry.peek().kind === kind)
    const calls = ofKind('tool_call')
    const permissions = ofKind('permission').sort((a, b) => a.index - b.index)
    for (const slot of permissions) {
      // the last one above it, since some agents use an id again in a later turn
      const above = calls.filter(({ index }) => index < slot.index)
      const call = above.sort((a, b) => b.index - a.index)[0] ?? calls[0]
      if (slot.call === call) continue
      slot.call = call
      this.changed.add(slot)
    }
    for (const call of calls) {
      const about = permissions.filter(slot => slot.call === call)
      const known = call.permissions.peek()
      if (about.length === known.length && about.every((slot, i) => slot === known[i])) continue
      call.permissions.value = about
      this.changed.add(call)
    }
  }
}

function toolCallKey(entry: Entry): string | undefined {
  if (entry.kind !== 'tool_call' && entry.kind !== 'permission') return undefined
  return entry.toolCallId === undefined ? undefined : `${entry.within ?? ''}\n${entry.toolCallId}`
}
