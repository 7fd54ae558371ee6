import type { ConversationHead, PatchOp } from '../bridge/conversation.ts'

/**
 * The op that brings a view from one head to the next, or nothing when they say the same. What comes from the session's
 * state is replaced piece by piece, never changed in place, so identity answers for long lists; what is built anew each
 * time is small and compared by its JSON.
 */
export function diffHead(before: ConversationHead, after: ConversationHead): PatchOp | undefined {
  const head: Partial<ConversationHead> = {}
  const cleared: Array<keyof ConversationHead> = []
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof ConversationHead>) {
    if (same(before[key], after[key])) continue
    if (after[key] === undefined) cleared.push(key)
    else if (JSON.stringify(before[key]) !== JSON.stringify(after[key])) {
      Object.assign(head, { [key]: after[key] })
    }
  }
  if (Object.keys(head).length === 0 && cleared.length === 0) return undefined
  return cleared.length > 0 ? { op: 'head', head, cleared } : { op: 'head', head }
}

function same(before: unknown, after: unknown): boolean {
  if (before === after) return true
  if (!Array.isArray(before) || !Array.isArray(after) || before.length !== after.length) return false
  return before.every((item, index) => item === after[index])
}
