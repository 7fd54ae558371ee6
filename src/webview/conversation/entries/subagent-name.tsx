import type { SubagentEntry } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'
import type { ConversationStore } from '../store.ts'

/** How many colors tell subagents apart, besides their names. */
const colors = 5

/** Gives a part of the page the color of a subagent, by its number. */
export function subagentClass(number: number): string {
  return `subagent-${number % colors}`
}

/** Above what a subagent says and does, where something else stood before: whose it is. A press leads to its beginning. */
export function SubagentName({ sessionId }: { sessionId: string }) {
  const { store, list } = useApp()
  void store.total.value
  const names = namesOf(store, sessionId)
  const reveal = () => {
    const slot = store.subagent(sessionId)
    const row = slot && store.rows.rowsOf(slot.index)[0]
    if (row) list.reveal(row)
  }
  return (
    <button
      type="button"
      class="subagent-name"
      title={t('Subagent: {0}', names.join(' › '))}
      onClick={reveal}
    >
      <Icon name="organization" />
      <span dir="auto">{names.join(' › ')}</span>
    </button>
  )
}

/** Its name, after those of the subagents that it was begun in. */
function namesOf(store: ConversationStore, sessionId: string): string[] {
  const names: string[] = []
  const seen = new Set<string>()
  for (let at: string | undefined = sessionId; at !== undefined && !seen.has(at); ) {
    seen.add(at)
    const entry = store.subagent(at)?.entry.value as SubagentEntry | undefined
    names.unshift(entry?.title || t('Subagent'))
    at = entry?.within
  }
  return names
}
