import type { Entry } from '../../../conversation/state.ts'
import { t } from '../../l10n.ts'
import { titleOfTool, titleParts } from '../../tools/title.ts'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'
import type { ConversationStore } from '../store.ts'

/** Number of colors that distinguish subagents, besides their names. */
const COLORS = 5

/** Returns the class that gives an element the color of a subagent, by the subagent's number. */
export function subagentClass(number: number): string {
  return `subagent-${number % COLORS}`
}

/** The name of a subagent above its entries, where they follow entries of others. A click scrolls to the subagent's start. */
export function SubagentName({ work }: { work: string }) {
  const { store, list } = useApp()
  void store.total.value
  const names = namesOf(store, work)
  const reveal = () => {
    const slot = store.subagents.get(work)
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

/** Returns the names of a subagent's parents, outermost first, then the subagent's own name. */
function namesOf({ subagents }: ConversationStore, work: string): string[] {
  return subagents
    .lineOf(work)
    .map(one => nameOf(subagents.get(one)?.entry.value) || t('Subagent'))
    .reverse()
}

function nameOf(entry: Entry | undefined): string {
  if (entry?.kind === 'tool_call') return titleParts(titleOfTool(entry), undefined).full
  return (entry?.kind === 'subagent' && entry.title) || ''
}
