/** Moving through a conversation by command. */
import { NotificationType } from 'vscode-jsonrpc'
import type { Entry } from '../../conversation/state.ts'

/** `question`: the next request that waits for the person, after the one that has the focus, or the one that is named */
export type NavigateTo = 'previousTurn' | 'nextTurn' | 'first' | 'latest' | 'question'

/** host → webview */
export const Navigate = new NotificationType<{ to: NavigateTo; requestId?: string }>('conversation/navigate')

/** 1: towards the end, -1: towards the beginning. */
export type Direction = 1 | -1

/** Whether an entry is a prompt of the person, which begins a turn or steers it; not one to a subagent. */
export function isPrompt(entry: Entry): boolean {
  return (
    entry.kind === 'message' && entry.role === 'user' && entry.within === undefined && entry.blocks.length > 0
  )
}

/** The index of the nearest prompt at or after `from` in a direction. */
export function nearestPrompt(
  entries: readonly Entry[],
  from: number,
  direction: Direction,
): number | undefined {
  let at = direction < 0 ? Math.min(from, entries.length - 1) : from
  while (at >= 0 && at < entries.length && !isPrompt(entries[at]!)) at += direction
  return entries[at] && at
}
