import { useState } from 'preact/hooks'
import { plural, t } from '../l10n.ts'
import { ScrollArea } from '../ui/scroll-area.tsx'
import type { DiffGroup, FileDiff } from './diff.ts'

/** More lines than this are drawn only when asked for. */
const longDiff = 200

const signs = { same: ' ', added: '+', removed: '-' } as const

/** A unified diff: each run of like lines is one element, its sign part of the text. */
export function DiffView({ diff }: { diff: FileDiff }) {
  const [whole, setWhole] = useState(false)
  const { hunks, hidden } = whole ? { hunks: diff.hunks, hidden: 0 } : firstLines(diff)
  return (
    <div class="diff">
      <ScrollArea class="diff-scroll" label={t('Changes')}>
        <div class="diff-lines" dir="ltr">
          {hunks.map((hunk, i) => (
            <div key={i} class="diff-hunk">
              {hunk.groups.map((group, j) => (
                <div key={j} class={`diff-${group.kind}`}>
                  {group.lines.map(line => `${signs[group.kind]} ${line}`).join('\n')}
                </div>
              ))}
            </div>
          ))}
        </div>
      </ScrollArea>
      {hidden > 0 && (
        <button type="button" class="link-button" onClick={() => setWhole(true)}>
          {plural(hidden, 'Show one more line', 'Show {0} more lines')}
        </button>
      )}
    </div>
  )
}

function firstLines(diff: FileDiff): { hunks: Array<{ groups: DiffGroup[] }>; hidden: number } {
  let left = longDiff
  let hidden = 0
  const hunks = diff.hunks.flatMap(hunk => {
    const groups = hunk.groups.flatMap(group => {
      const lines = group.lines.slice(0, Math.max(0, left))
      hidden += group.lines.length - lines.length
      left -= lines.length
      return lines.length > 0 ? [{ kind: group.kind, lines }] : []
    })
    return groups.length > 0 ? [{ groups }] : []
  })
  return { hunks, hidden }
}

/** `+12 −3`; nothing for a side without lines. */
export function DiffCounts({ added, removed }: { added: number; removed: number }) {
  return (
    <span class="diff-counts">
      {added > 0 && (
        <span class="added" title={plural(added, 'one line added', '{0} lines added')}>
          +{added}
        </span>
      )}
      {removed > 0 && (
        <span class="removed" title={plural(removed, 'one line removed', '{0} lines removed')}>
          −{removed}
        </span>
      )}
    </span>
  )
}
