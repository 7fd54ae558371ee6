import { useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Allowance } from '../../common/allowance.ts'
import { visibleProse } from '../../common/visible.ts'
import { readableTitle } from '../../conversation/mcp-tool-call.ts'
import { t } from '../l10n.ts'
import { announce } from '../ui/live-region.tsx'
import { allowanceText } from './composer/allowance.tsx'
import { useApp } from './context.ts'
import { stopReason } from './entries/notices.tsx'
import type { ConversationStore } from './store.ts'

/**
 * Announces state changes to screen readers: a turn started or ended, a request is pending, an error occurred, the agent
 * ended. The agent's messages are read in the log instead.
 */
export function Announcer() {
  const { store } = useApp()
  const before = useRef({
    ...{ activity: 'idle', phase: 'empty', waiting: '', key: '', cards: '' },
    allowed: 'ask' as Allowance | undefined,
  })
  useSignalEffect(() => {
    const head = store.head.value
    const waiting = store.waiting.value[0] ?? ''
    if (!head) return
    const { activity, phase, key } = head
    const cards = head.cards.map(card => card.id).join()
    const was = before.current
    const allowed = head.allowance?.allowed
    before.current = { activity, phase, waiting, key, cards, allowed }
    const agent = head.agent?.name ?? t('The agent')
    if (waiting !== was.waiting && waiting !== '') {
      const entry = store.slot(waiting)?.entry.peek()
      if (entry?.kind === 'elicitation')
        return announce(t('{0} asks: {1}', agent, visibleProse(entry.message)))
      if (entry?.kind === 'permission') {
        const title = visibleProse(readableTitle(entry.title))
        return announce(entry.outlastsTurn ? title : t('{0} asks: {1}', agent, title))
      }
    }
    const card = head.cards.at(-1)
    if (cards !== was.cards && card && !was.cards.split(',').includes(card.id))
      return announce(`${card.title} ${card.text}`)
    if (phase !== was.phase || key !== was.key) {
      if (phase === 'starting' || phase === 'loading') return announce(head.progress ?? t('Starting'))
      if (phase === 'ready' && was.phase !== 'ready') return announce(t('{0} is ready', agent))
      if (phase === 'ended') return announce(t('{0} has ended', agent))
    }
    // don't announce the state of a session that was just displayed
    if (key !== was.key) return
    if (allowed && was.allowed && allowed !== was.allowed) return announce(allowanceText(allowed))
    if (activity === was.activity) return
    if (activity === 'running' && was.activity === 'idle') return announce(t('{0} is working', agent))
    if (activity === 'idle' && was.activity !== 'idle') announce(endOfTurn(store) ?? t('{0} finished', agent))
  })
  return null
}

/** Returns how the turn ended, unless it ended normally. */
function endOfTurn({ last }: ConversationStore): string | undefined {
  const entry = last.peek()?.entry.peek()
  if (entry?.kind !== 'turn_end') return undefined
  return entry.error
    ? `${t('The turn ended with an error')} ${entry.error.message}`
    : stopReason(entry.stopReason, entry.canceledBy).text
}
