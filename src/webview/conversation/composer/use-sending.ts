import type { ConversationHead } from '../../../views/bridge/conversation.ts'
import { t } from '../../l10n.ts'
import { useApp } from '../context.ts'
import type { Draft } from './draft.ts'

interface Sending {
  /** Why nothing can be sent now. */
  blocked: string | undefined
  /** Sends what stands in the composer, which is empty then; the host waits for the agent where it must. */
  send(): void
}

export function useSending(draft: Draft, onBegin: () => void): Sending {
  const { store, list } = useApp()
  const blocked = blockedBecause(store.head.value)
  const send = () => {
    // as it is now: a fast hand presses Enter before what it typed, or what happened to the agent, is drawn
    if (draft.isEmpty.peek() || blockedBecause(store.head.peek())) return
    onBegin()
    draft.send()
    list.toEnd()
  }
  return { blocked, send }
}

function blockedBecause(head: ConversationHead | undefined): string | undefined {
  if (!head) return t('Preparing…')
  if (head.phase === 'empty' && (head.noAgent || head.agents.length === 0)) return t('No agent selected')
  return undefined
}
