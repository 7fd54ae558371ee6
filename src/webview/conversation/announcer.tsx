import { useSignalEffect } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { t } from '../l10n.ts'
import { announce } from '../ui/live-region.tsx'
import { useApp } from './context.ts'

/** Says to screen readers what a glance shows others: a turn began or ended, a question waits, the agent is gone. */
export function Announcer() {
  const { store } = useApp()
  const before = useRef({ activity: 'idle', phase: 'empty', waiting: '', key: '' })
  useSignalEffect(() => {
    const head = store.head.value
    const waiting = store.waiting.value[0] ?? ''
    if (!head) return
    const { activity, phase, key } = head
    const was = before.current
    before.current = { activity, phase, waiting, key }
    const agent = head.agent?.name ?? t('The agent')
    if (waiting !== was.waiting && waiting !== '') {
      const entry = store.slot(waiting)?.entry.peek()
      if (entry?.kind === 'elicitation') return announce(t('{0} asks: {1}', agent, entry.message))
      if (entry?.kind === 'permission') return announce(t('{0} asks: {1}', agent, entry.title))
    }
    if (phase !== was.phase || key !== was.key) {
      if (phase === 'starting' || phase === 'loading') return announce(head.progress ?? t('Starting'))
      if (phase === 'ready' && was.phase !== 'ready') return announce(t('{0} is ready', agent))
      if (phase === 'ended') return announce(t('{0} has ended', agent))
    }
    if (activity === was.activity) return
    if (activity === 'running' && was.activity === 'idle') return announce(t('{0} is working', agent))
    if (activity === 'idle' && was.activity !== 'idle') announce(t('{0} has finished', agent))
  })
  return null
}
