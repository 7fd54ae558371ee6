import { Fragment } from 'preact'
import { formatCost } from '../../../common/format-cost.ts'
import type { TurnSummary } from '../../../conversation/state.ts'
import { formatSeconds, language, plural, t } from '../../l10n.ts'
import { DiffCounts } from '../../tools/diff-counts.tsx'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'
import type { EntrySlot } from '../slot.ts'

/** The end of a finished turn: its summary and its actions. */
export function TurnLine({ slot }: { slot: EntrySlot }) {
  const app = useApp()
  const { host, store, work } = app
  const { turn, turnSummary: summary } = slot.entry.value
  if (!summary) return null
  const { key, files } = work.changes.value
  // of a replayed turn, only the number of files is known
  const hasChanges = summary.files?.added !== undefined && files.length > 0 && key === store.head.value?.key
  const folded = store.expansion.isFolded(slot)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form
    <div
      class={`turn-line${store.last.value === slot ? ' latest' : ''}`}
      role="group"
      aria-label={t('End of turn')}
    >
      <button
        type="button"
        class="line turn-facts"
        aria-expanded={!folded}
        title={folded ? t('Expand Turn') : t('Collapse Turn')}
        onClick={() => app.toggleTurn(slot)}
      >
        <Icon name="chevron-right" class={`line-chevron${folded ? '' : ' open'}`} />
        <span class="visually-hidden">{t('Turn')}: </span>
        <span>
          <Facts summary={summary} />
        </span>
      </button>
      <span class="turn-actions">
        {hasChanges && (
          <>
            <IconButton
              icon="diff-multiple"
              label={t('Review Changes')}
              onClick={() => host.send('changes/review')}
            />
            <IconButton
              icon="discard"
              label={t('Revert Changes of This Turn…')}
              onClick={() => host.send('changes/undo', { turn })}
            />
          </>
        )}
        <IconButton
          icon="copy"
          label={t('Copy Answer')}
          onClick={() => host.send('conversation/copyAnswer', { turn })}
        />
      </span>
    </div>
  )
}

function Facts({ summary: { took = 0, tools, failed, files, cost } }: { summary: TurnSummary }) {
  const facts = [
    took >= 1000 && formatSeconds(Math.round(took / 1000)),
    tools > 0 && plural(tools, '1 tool', '{0} tools'),
    failed > 0 && <span class="failed">{plural(failed, '1 failed', '{0} failed')}</span>,
    files && (
      <>
        {plural(files.count, '1 file', '{0} files')} <DiffCounts added={0} removed={0} {...files} />
      </>
    ),
    cost && formatCost(cost, language()),
  ].filter(Boolean)
  return (
    <>
      {facts.map((fact, i) => (
        <Fragment key={i}>
          {i > 0 && ' · '}
          <span class="turn-fact">{fact}</span>
        </Fragment>
      ))}
    </>
  )
}
