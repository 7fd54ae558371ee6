import type { Entry, SessionActivity } from '../../../conversation/state.ts'
import { formatSeconds, t } from '../../l10n.ts'
import type { PathRoots } from '../../tools/title.ts'
import { now } from '../../ui/clock.ts'
import { useApp } from '../context.ts'
import { type Activity, activityOf } from '../row.ts'

/** The line below the last block while a turn is running: an animation, the current activity and its duration. */
export function WorkingLine() {
  const { store } = useApp()
  const head = store.head.value
  if (head?.phase !== 'ready' || head.activity === 'idle') return null
  const waiting = store.waiting.value.length
  const last = store.last.value?.entry.value
  // while waiting for the user, show the duration of the wait
  const [asked] = store.waiting.value
  const since = asked === undefined ? head.turnStartedAt : store.slot(asked)?.entry.value.startedAt
  const word = head.stopping
    ? { text: t('Stopping') }
    : activityWord(head.activity, last, waiting, head.roots, head.unconfirmed)
  return (
    <div class={`working${store.asked.value ? ' waiting' : ''}`}>
      <div class="working-bar" aria-hidden="true" />
      <div class="working-text">
        <span class="working-word">{word.text}</span>
        {word.code && <code class="working-code">{word.code}</code>}
        {since !== undefined && <Seconds since={since} />}
      </div>
    </div>
  )
}

/** The duration in seconds, a separate component so that the clock redraws nothing else. */
function Seconds({ since }: { since: number }) {
  const seconds = Math.floor((now.value - since) / 1000)
  return seconds > 0 ? <span class="working-time">{formatSeconds(seconds)}</span> : null
}

/** Returns a word for the agent's activity, derived from the last entry. */
export function activityWord(
  activity: SessionActivity,
  last: Entry | undefined,
  waiting: number,
  roots: PathRoots | undefined,
  unconfirmed = false,
): Activity {
  if (activity === 'requires_action' || waiting > 0) return { text: t('Waiting for your answer') }
  if (unconfirmed) return { text: t('Status unknown') }
  return (last && activityOf(last, roots)) ?? { text: t('Working') }
}
