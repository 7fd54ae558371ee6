import { formatSeconds } from '../l10n.ts'
import { now } from '../ui/clock.ts'
import { activityWord } from './activity.ts'
import { useApp } from './context.ts'

/** Under the last block while a turn runs: a quiet line that moves, the word for what is done, and for how long. */
export function WorkingLine() {
  const { store } = useApp()
  const head = store.head.value
  if (!head || head.activity === 'idle' || head.phase !== 'ready') return null
  const waiting = store.waiting.value.length
  const last = store.last.value?.entry.value
  const word = activityWord(head.activity, last, waiting, head.roots)
  const isWaiting = head.activity === 'requires_action' || waiting > 0
  return (
    <div class={`working${isWaiting ? ' waiting' : ''}`}>
      <div class="working-bar" aria-hidden="true" />
      <div class="working-text">
        <span>{word.text}</span>
        {word.code && <code class="working-code">{word.code}</code>}
        {head.turnStartedAt !== undefined && <Seconds since={head.turnStartedAt} />}
      </div>
    </div>
  )
}

/** Apart, so that a second that passes redraws nothing else. */
function Seconds({ since }: { since: number }) {
  const seconds = Math.floor((now.value - since) / 1000)
  return seconds > 0 ? <span class="working-time">{formatSeconds(seconds)}</span> : null
}
