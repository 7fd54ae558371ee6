import type { ToolCallEntry } from '../../../conversation/state.ts'
import { plural, t } from '../../l10n.ts'
import { runSummary } from '../../tools/title.ts'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'
import type { EntrySlot } from '../rows/slot.ts'
import { Line } from './line.tsx'
import { ToolTitle } from './tool-title.tsx'

/** Several reads and searches in one line; opened, each has its own. */
export function Run({ slots }: { slots: readonly EntrySlot[] }) {
  const app = useApp()
  const entries = slots.map(slot => slot.entry.value as ToolCallEntry)
  const active = entries.findLast(entry => entry.status === 'in_progress')
  const failed = entries.filter(entry => entry.status === 'failed').length
  const open = app.store.openState(`run/${slots[0]!.id}`).value
  return (
    <Line
      icon={entries.some(entry => entry.toolKind === 'search') ? 'search' : 'files'}
      open={open}
      onToggle={() => app.toggleRun(slots)}
      end={
        <>
          {failed > 0 && <span class="failed">{plural(failed, '1 failed', '{0} failed')}</span>}
          {active && <Icon name="loading" class="codicon-modifier-spin" label={t('Running')} />}
        </>
      }
    >
      <span class="line-text">{runSummary(entries.map(entry => entry.toolKind))}</span>
      {active && !open && (
        <span class="line-aside">
          <ToolTitle title={active.title} roots={app.store.head.value?.roots} />
        </span>
      )}
    </Line>
  )
}
