import { useRef } from 'preact/hooks'
import type { ConversationHead } from '../../../bridge/conversation.ts'
import { t } from '../../l10n.ts'
import { useApp } from '../context.ts'
import { calledCommand } from './completion.ts'
import type { Draft } from './draft.ts'

interface Sending {
  /** why nothing can be sent now */
  blocked: string | undefined
  /**
   * Sends the composer's content and clears it. The host waits for the agent if necessary. `now`: into the running turn, if
   * the agent can add it.
   */
  send(now?: boolean): void
  /** Stores the composer's content, and lets the user choose several agents that get it. */
  sendTo(): void
}

interface SendingOptions {
  /** Adds context to the draft that every prompt gets. */
  addContext(): void
  /** The draft is about to be sent. */
  onBegin(): void
  onFail(sentence: string): void
}

export function useSending(draft: Draft, { addContext, onBegin, onFail }: SendingOptions): Sending {
  const app = useApp()
  const { store, list, host } = app
  const blocked = blockedBecause(store.head.value)
  const expanding = useRef(false)
  /** Runs an action as soon as the text of the prompt file that the draft calls, if any, is in the draft. */
  const whenExpanded = (what: () => void) => {
    const { text, chips } = draft.content.peek()
    const isCall = /^\/\S/.test(text) && chips[0]?.from !== 0
    if (!isCall || calledCommand(store.head.peek()?.commands ?? [], text)) return what()
    if (expanding.current) return
    expanding.current = true
    void import('./expand-prompt.ts')
      .then(({ expandPrompt }) => expandPrompt(draft, app, onFail))
      .then(
        isReady => isReady && what(),
        () => onFail(t("This part couldn't be loaded.")),
      )
      .finally(() => {
        expanding.current = false
      })
  }
  const send = (now = false) => {
    // read the current state, since a user may press Enter before the last key or change is rendered
    if (draft.isEmpty.peek() || blockedBecause(store.head.peek())) return
    whenExpanded(() => {
      addContext()
      onBegin()
      draft.send(now && store.head.peek()?.canSteer === true)
      list.toEnd()
    })
  }
  const sendTo = () =>
    whenExpanded(() => {
      addContext()
      draft.flush()
      host.send('composer/sendTo')
    })
  return { blocked, send, sendTo }
}

function blockedBecause(head: ConversationHead | undefined): string | undefined {
  if (!head) return t('Preparing…')
  if (head.phase === 'empty' && (head.noAgent || head.agents.length === 0)) return t('No agent selected')
  return undefined
}
