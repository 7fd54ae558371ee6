import type { MessageEntry } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { useApp } from '../context.ts'
import type { EntrySlot } from '../rows/slot.ts'
import { entryDuration } from './duration.ts'
import { Line } from './line.tsx'

/** The line of a thought; its text follows in rows of its own when it is open. */
export function Thought({ slot }: { slot: EntrySlot }) {
  const app = useApp()
  const entry = slot.entry.value as MessageEntry
  const running = isThinking(app.store.head.value?.activity, app.store.last.value, slot)
  const duration = entryDuration(entry, running)
  const title = running ? t('Thinking…') : duration ? t('Thought for {0}', duration) : t('Thought')
  return (
    <Line icon="lightbulb" open={slot.open.value} onToggle={() => app.toggle(slot)} class="thought-line">
      {title}
    </Line>
  )
}

function isThinking(activity: string | undefined, last: EntrySlot | undefined, slot: EntrySlot): boolean {
  return activity === 'running' && last === slot && slot.entry.value.endedAt === undefined
}
