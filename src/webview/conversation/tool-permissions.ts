import { chosenOption } from '../../conversation/permission-outcome.ts'
import type { Entry, PermissionEntry } from '../../conversation/state.ts'
import type { EntrySlot } from './slot.ts'

/** Returns the last permission request of a tool call. */
export function permissionOf({ permissions }: EntrySlot): PermissionEntry | undefined {
  const asked = permissions.value.at(-1)?.entry.value
  return asked?.kind === 'permission' ? asked : undefined
}

/** Returns how the user prevented the tool call from running, if they did. */
export function refusalOf(call: EntrySlot): 'rejected' | 'canceled' | undefined {
  const asked = permissionOf(call)
  if (!asked?.outcome) return undefined
  if (asked.outcome.type === 'cancelled') return 'canceled'
  return chosenOption(asked)?.kind.startsWith('reject') ? 'rejected' : undefined
}

/** Connects permission requests with the tool calls that they are about. */
export class ToolPermissions {
  /** tool calls and permission requests by the tool call's key, which includes the subagent; almost always one of each */
  readonly #slots = new Map<string, EntrySlot[]>()
  /** entries whose rows are outdated, because a related tool call or permission was added or removed since */
  readonly changed = new Set<EntrySlot>()

  /** Connects an added entry. `before`: the entry that it replaces, which may have had other IDs. */
  add(slot: EntrySlot, before: Entry | undefined): void {
    const key = toolCallKey(slot.entry.peek())
    if (key !== undefined) this.#slots.set(key, [...(this.#slots.get(key) ?? []), slot])
    for (const one of new Set([key, before && toolCallKey(before)])) this.#connect(one)
    // the permission may have been answered, which may let the edit join a run of edits
    if (slot.call && before) this.changed.add(slot.call)
  }

  /** Removes an entry that is about to be replaced. */
  remove(slot: EntrySlot): void {
    const key = toolCallKey(slot.entry.peek())
    const rest = this.#slots.get(key ?? '')?.filter(one => one !== slot)
    if (key !== undefined && rest) this.#slots.set(key, rest)
  }

  /** Removes an entry that no longer exists. */
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
      // the last tool call above the request, since some agents reuse IDs in later turns
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
