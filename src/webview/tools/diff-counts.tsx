import { type Signal, signal } from '@preact/signals'
import type { FileChange } from '../../acp/model.ts'
import type { ToolCallEntry } from '../../conversation/state.ts'
import { formatNumber, plural } from '../l10n.ts'
import type { FileDiff } from './diff.ts'

/** The numbers of added and removed lines: `+12 −3`. A number of 0 is omitted, so that adjacent text ends at the edge. */
export function DiffCounts({ added, removed }: { added: number; removed: number }) {
  if (added + removed === 0) return null
  return (
    <span class="diff-counts">
      {added > 0 && (
        <span class="added" title={plural(added, '1 line added', '{0} lines added')}>
          +{formatNumber(added)}
        </span>
      )}
      {removed > 0 && (
        <span class="removed" title={plural(removed, '1 line removed', '{0} lines removed')}>
          −{formatNumber(removed)}
        </span>
      )}
    </span>
  )
}

export function hasDiff(entry: ToolCallEntry): boolean {
  return entry.content.some(({ type }) => type === 'diff')
}

/** The number of lines that tool calls add and remove in all their diffs; nothing if they have none. */
export function ToolCounts({ entries }: { entries: readonly ToolCallEntry[] }) {
  let added = 0
  let removed = 0
  for (const content of entries.flatMap(({ content }) => content)) {
    if (content.type !== 'diff') continue
    for (const change of content.changes) {
      const diff = diffSoon(change, content.patch?.text)
      added += diff?.added ?? 0
      removed += diff?.removed ?? 0
    }
  }
  return <DiffCounts added={added} removed={removed} />
}

/** Texts up to this total length are compared immediately. Characters. */
const MAX_COMPARED_AT_ONCE = 100_000

/** The module that compares texts, loaded with the first visible change. */
let loaded: typeof import('./diff.ts') | undefined
export async function loadComparison(): Promise<void> {
  loaded = await import('./diff.ts')
}
/** `null`: not compared yet */
type Soon = FileDiff | null | undefined
const known = new WeakMap<FileChange, Signal<Soon>>()

/**
 * Returns the diff of a changed file, computed once by `diffOf`. The diff of long texts, or one requested before the module is
 * loaded, is computed when the page is idle; until then, the result is `null`, and observers are updated later.
 */
export function diffSoon(change: FileChange, patch?: string): Soon {
  let diff = known.get(change)
  if (!diff) {
    diff = signal<Soon>(null)
    known.set(change, diff)
    const length = (change.oldText?.length ?? 0) + (change.newText?.length ?? 0) + (patch?.length ?? 0)
    compare(diff, change, patch, length <= MAX_COMPARED_AT_ONCE)
  }
  return diff.value
}

function compare(diff: Signal<Soon>, change: FileChange, patch: string | undefined, atOnce: boolean): void {
  const made = ({ diffOf }: typeof import('./diff.ts')) => {
    diff.value = diffOf(change, patch)
  }
  if (!loaded) {
    loadComparison().then(
      () => compare(diff, change, patch, atOnce),
      // a failure is unlikely, since the page itself came from the same folder; without counts, the diff still opens in an editor
      () => undefined,
    )
  } else if (atOnce) made(loaded)
  else if (typeof requestIdleCallback === 'function')
    requestIdleCallback(() => made(loaded!), { timeout: 1000 })
  else setTimeout(() => made(loaded!))
}
