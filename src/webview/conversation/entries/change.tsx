import { type Signal, signal } from '@preact/signals'
import type { FileChange } from '../../../acp/model.ts'
import { t } from '../../l10n.ts'
import type { FileDiff } from '../../tools/diff.ts'
import { DiffCounts, diffSoon } from '../../tools/diff-counts.tsx'
import { canBeSideBySide, wantsSideBySide } from '../../tools/diff-layout.ts'
import { DiffView } from '../../tools/diff-view.tsx'
import { patchOfFile } from '../../tools/patch-of-file.ts'
import { relativePath } from '../../tools/title.ts'
import { IconButton } from '../../ui/button.tsx'
import { LoadingPart } from '../../ui/lazy.tsx'
import { type App, useApp } from '../context.ts'
import type { EntrySlot } from '../slot.ts'
import { HighlightedCode } from './highlighted-code.tsx'
import { ToolTitle } from './line.tsx'

interface ChangeProps {
  slot: EntrySlot
  change: FileChange
  patch: string | undefined
  content: number
  position: number
  /** whether to wrap long lines, because the user decides on the change */
  wrap?: boolean | undefined
}

/** A changed file: its name, the kind of change, and its diff. */
export function Change({ slot, change, patch, content, position, wrap }: ChangeProps) {
  const { host, store } = useApp()
  const roots = store.head.value?.roots
  const soon = diffSoon(change, patch)
  const diff = soon ?? undefined
  const path = relativePath(change.path, roots)
  const name =
    change.oldPath && change.oldPath !== change.path
      ? `${relativePath(change.oldPath, roots)} → ${path}`
      : path
  const shift = diff
    ? (locationShift(slot, change, diff) ?? fragmentShift(host, slot, change, diff, content, position))
    : 0
  const first = diff?.hunks[0]?.groups
  const startsAt = diff?.hunks[0] && diff.hunks[0].start + shift + leading(first)
  const hasLines = diff !== undefined && diff.hunks.length > 0
  return (
    <div class="change">
      <div class="change-head">
        <button
          type="button"
          class="change-path"
          title={change.path}
          onClick={() => host.send('conversation/file', { path: change.path, line: startsAt })}
        >
          <ToolTitle title={name} roots={undefined} />
        </button>
        {operationName(change) && <span class="quiet">{operationName(change)}</span>}
        {diff && <DiffCounts added={diff.added} removed={diff.removed} />}
        <span class="change-actions">
          {hasLines && canBeSideBySide.value && diff.added > 0 && diff.removed > 0 && (
            <IconButton
              icon="split-horizontal"
              label={t('Side by Side')}
              pressed={wantsSideBySide.value}
              onClick={() => {
                wantsSideBySide.value = !wantsSideBySide.peek()
                host.send('appearance/setDiff', { sideBySide: wantsSideBySide.peek() })
              }}
            />
          )}
          {change.fileType !== 'directory' && (
            <IconButton
              icon="diff-single"
              label={t('Open Diff')}
              onClick={() => host.send('conversation/diff', { entryId: slot.id, content, change: position })}
            />
          )}
        </span>
      </div>
      {soon === null ? (
        <LoadingPart />
      ) : hasLines ? (
        <DiffView diff={diff} path={change.path} shift={shift} wrap={wrap} />
      ) : (
        <NoLines change={change} diff={diff} patch={patch} />
      )}
    </div>
  )
}

/** Returns the number of unchanged lines at the top of a hunk, so that a click leads to the first changed line. */
function leading(groups: FileDiff['hunks'][number]['groups'] | undefined): number {
  const first = groups?.[0]
  return first?.kind === 'same' ? first.lines.length : 0
}

/**
 * Returns the number to add to line numbers if the agent sends only the replaced part of a file, and its position as the tool
 * call's location. A location inside of the text is ignored.
 */
function locationShift(slot: EntrySlot, change: FileChange, diff: FileDiff): number | undefined {
  const entry = slot.entry.value
  if (entry.kind !== 'tool_call' || !diff.newLines) return undefined
  const line = entry.locations.find(location => location.path === change.path)?.line
  return line !== undefined && line > diff.newLines.length ? line - 1 : undefined
}

/** by change: its first line in the file; 1 until the host has found it */
const fragments = new WeakMap<FileChange, Signal<number>>()

/** Returns the number to add to line numbers if the agent sends only a fragment without its position, which the host searches once. */
function fragmentShift(
  host: App['host'],
  slot: EntrySlot,
  change: FileChange,
  diff: FileDiff,
  content: number,
  position: number,
): number {
  if (change.operation !== 'modify' || !diff.newLines) return 0
  let line = fragments.get(change)
  if (!line) {
    const found = signal(1)
    line = found
    fragments.set(change, found)
    void host
      .request('conversation/findFragment', { entryId: slot.id, content, change: position })
      .catch(() => null)
      .then(at => {
        if (at !== null) found.value = at
      })
  }
  return line.value - 1
}

interface NoLinesProps {
  change: FileChange
  diff: FileDiff | undefined
  patch: string | undefined
}

/** The text for a change without lines to show. */
function NoLines({ change, diff, patch }: NoLinesProps) {
  const note = noteOf(change, diff)
  if (note !== undefined) return <div class="quiet">{note}</div>
  return patch ? <HighlightedCode text={patchOfFile(patch, change.path)} language="diff" /> : null
}

function noteOf(change: FileChange, diff: FileDiff | undefined): string | undefined {
  if (diff?.note === 'binary' || change.fileType === 'binary')
    return change.mimeType ? t('Binary file ({0})', change.mimeType) : t('Binary file')
  if (change.fileType === 'directory') return t('Folder')
  if (change.fileType === 'symlink') return t('Symbolic link')
  if (diff?.note) return t('Mode changed from {0} to {1}', diff.note.oldMode, diff.note.newMode)
  if (!diff) return undefined
  switch (change.operation) {
    case 'add':
      return t('Empty file')
    case 'move':
    case 'copy':
      return t('No changes')
    case 'delete':
      return undefined
    default:
      return t('No changes')
  }
}

function operationName(change: FileChange): string {
  if (change.fileType === 'directory' && change.operation === 'add') return t('new')
  switch (change.operation) {
    case 'add':
      return t('new file')
    case 'delete':
      return t('deleted')
    case 'move':
      return t('moved')
    case 'copy':
      return t('copied')
    default:
      return ''
  }
}
