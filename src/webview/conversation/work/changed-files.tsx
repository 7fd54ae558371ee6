import type { VNode } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ChangedFileNote } from '../../../bridge/conversation.ts'
import { formatNumber, plural, t } from '../../l10n.ts'
import { DiffCounts } from '../../tools/diff-counts.tsx'
import { baseName, relativePath } from '../../tools/title.ts'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { ScrollArea } from '../../ui/scroll-area.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { useApp } from '../context.ts'
import { BarLine, useBarOpen } from './bar.tsx'

/** The session's changes, pinned above the composer: counts, files and buttons. */
export function ChangedFiles() {
  const { host, store, work } = useApp()
  const open = useBarOpen()
  const { key, files, count, omitted = 0, unseen = [] } = work.changes.value
  if (files.length + omitted + unseen.length === 0 || key !== store.head.value?.key) return null
  const changed = files.filter(({ status }) => status !== undefined).length
  const sum = (side: 'added' | 'removed') => files.reduce((all, file) => all + file[side], 0)
  return (
    <section class="changes" aria-label={t('Changed files')}>
      <div class="changes-bar">
        <BarLine open={open} icon="diff-multiple">
          <span class="changes-count">{plural(changed, '1 file', '{0} files')}</span>
          <DiffCounts added={sum('added')} removed={sum('removed')} />
          {count && (
            <span class="changes-decided">
              {t('{0} of {1} decided', formatNumber(count.decided), formatNumber(count.total))}
            </span>
          )}
        </BarLine>
        <button
          type="button"
          class="link-button"
          title={t('Review all changes')}
          onClick={() => host.send('changes/review')}
        >
          {t('Review')}
        </button>
        <IconButton
          icon="discard"
          label={t('Revert All Changes…')}
          onClick={() => host.send('changes/undo')}
        />
        <IconButton
          icon="check-all"
          label={t('Keep All Changes')}
          onClick={() => host.send('changes/keep')}
        />
        {/* a chevron that does the same as the line, where every bar has it; keyboard users use the line */}
        <span
          class="changes-toggle"
          aria-hidden="true"
          onClick={() => {
            open.value = !open.value
          }}
        >
          <Icon name="chevron-right" class={`line-chevron${open.value ? ' open' : ''}`} />
        </span>
      </div>
      {omitted > 0 && (
        <p class="changes-omitted">
          {plural(
            omitted,
            "1 more file changed and isn't listed: it can't be compared.",
            "{0} more files changed and aren't listed: there are too many, or they can't be compared.",
          )}
        </p>
      )}
      {unseen.map(folder => (
        <p key={folder} class="changes-omitted" title={folder}>
          {t(
            "Changes that commands made in {0} aren't tracked: the folder is too large, or its repository is new or can't be read.",
            baseName(folder),
          )}
        </p>
      ))}
      {open.value && <SearchedFiles key={key} files={files} />}
    </section>
  )
}

/** With more files than this, which is about what fits into the view, there's a search field. */
const MAX_WITHOUT_SEARCH = 10

/** A search field, and the files whose path contains every word of the search. */
function SearchedFiles({ files }: { files: readonly ChangedFileNote[] }) {
  const { store } = useApp()
  const field = useRef<HTMLInputElement>(null)
  const [text, setText] = useState('')
  const roots = store.head.value?.roots
  const isSearchable = files.length > MAX_WITHOUT_SEARCH || text !== ''
  const found = useMemo(() => {
    const words = text.toLocaleLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0) return files
    return files.filter(({ path, from = '' }) => {
      const names = `${relativePath(path, roots)} ${baseName(from)}`.toLocaleLowerCase()
      return words.every(word => names.includes(word))
    })
  }, [files, text, roots])
  return (
    <>
      {isSearchable && (
        <div class="changes-search">
          <SearchField
            field={field}
            label={t('Search changed files')}
            maxLength={1000}
            value={text}
            onSearch={next => {
              setText(next)
              field.current?.focus()
            }}
            onKeyDown={event => {
              if (event.key !== 'Escape' || text === '') return
              event.stopPropagation()
              setText('')
            }}
          />
        </div>
      )}
      {found.length > 0 ? (
        <Files key={text} files={found} />
      ) : (
        <p class="changes-omitted" role="status">
          {t('No results')}
        </p>
      )}
    </>
  )
}

/** Number of rows in the page, of which about ten fit into the view. `AHEAD`: number of rows above the view. */
const ROWS = 48
const AHEAD = 16
/** Number of rows that must be scrolled before other rows are drawn. */
const STEP = 8

/** The list of files, which draws only the rows near the view, since all rows have the same height. */
function Files({ files }: { files: readonly ChangedFileNote[] }) {
  const [from, setFrom] = useState(0)
  const [height, setHeight] = useState(24)
  const list = useRef<HTMLUListElement>(null)
  const measure = () => {
    const measured = list.current?.firstElementChild?.getBoundingClientRect().height
    if (measured && Math.abs(measured - height) > 0.1) setHeight(measured)
  }
  useLayoutEffect(measure, [])
  const first = Math.max(0, Math.min(from, files.length - ROWS))
  const drawn = files.slice(first, first + ROWS)
  // Preact skips a row whose virtual node is the same object as before
  const rows = useMemo(() => new Map<number, VNode>(), [files])
  const row = (at: number, file: ChangedFileNote) => {
    const known = rows.get(at) ?? <File key={file.path} file={file} at={at} of={files.length} />
    rows.set(at, known)
    return known
  }
  const scroll = (area: HTMLElement) => {
    measure()
    const next = Math.max(0, Math.floor(area.scrollTop / height / STEP) * STEP - AHEAD)
    if (next === from) return
    // a row that has the focus may be removed
    const focused = list.current?.querySelector('li:focus-within')
    const at = Number(focused?.getAttribute('aria-posinset')) - 1
    if (focused && (at < next || at >= next + ROWS)) area.focus({ preventScroll: true })
    setFrom(next)
  }
  return (
    <ScrollArea class="changes-body" label={t('Changed files')} onScroll={scroll}>
      <ul
        ref={list}
        class="changes-list"
        style={{
          paddingBlockStart: first * height,
          paddingBlockEnd: (files.length - first - drawn.length) * height,
        }}
      >
        {drawn.map((file, i) => row(first + i, file))}
      </ul>
    </ScrollArea>
  )
}

function File({ file, at, of }: { file: ChangedFileNote; at: number; of: number }) {
  const { host, store } = useApp()
  const path = relativePath(file.path, store.head.value?.roots)
  const name = baseName(path)
  const folder = path.slice(0, path.length - name.length)
  const decided = file.decided && describeDecision(file.decided)
  const isGone = !file.status && file.decided?.isGone === true
  const { letter, word } = file.status
    ? describeStatus(file.status)
    : { letter: '', word: decided?.text ?? '' }
  const from = file.from === undefined ? undefined : relativePath(file.from, store.head.value?.roots)
  const uncertain =
    file.uncertain === 'all'
      ? t('Changed on disk during the turn (command or another program)')
      : file.uncertain && t('Some of it changed on disk during the turn (command or another program)')
  const line = useRef<HTMLButtonElement>(null)
  const decide = (how: 'changes/undo' | 'changes/keep' | 'changes/undecide') => {
    // the buttons disappear with the decision, so the focus moves to the row
    line.current?.focus({ preventScroll: true })
    host.send(how, { path: file.path })
  }
  return (
    <li
      class={`changes-file changes-${file.status ?? file.decided?.outcome}${file.status ? ' changes-undecided' : file.decided?.canUndo ? ' changes-undoable' : ''}`}
      aria-posinset={at + 1}
      aria-setsize={of}
    >
      <button
        ref={line}
        type="button"
        class="line"
        aria-disabled={isGone}
        title={[
          isGone
            ? `${path}: ${word}`
            : file.status
              ? t('{0}: {1}. Open Diff', path, word)
              : t('{0}: {1}. Open File', path, word),
          ...(file.status && decided ? [decided.text] : []),
          ...(from === undefined ? [] : [t('Was {0}', from)]),
          ...(uncertain === undefined ? [] : [uncertain]),
        ].join('\n')}
        onClick={() => !isGone && host.send('changes/open', { path: file.path })}
      >
        <span class="changes-status" aria-hidden="true">
          {file.status ? letter : decided && <Icon name={decided.icon} />}
        </span>
        <span class="visually-hidden">{word}: </span>
        <span class="line-title truncate">
          <bdi class="changes-name truncate">{name}</bdi>
          <bdi class="changes-folder truncate">
            {from === undefined ? folder.replace(/[\\/]$/, '') : t('was {0}', from)}
          </bdi>
        </span>
        {file.uncertain && (
          <span class="changes-meanwhile">
            <Icon name="terminal" />
            <span class="visually-hidden">{uncertain}</span>
          </span>
        )}
        <span class="line-end">
          {decided && (
            <span class="changes-outcome" aria-hidden={file.status === undefined}>
              {file.status && <Icon name={decided.icon} />}
              <span class={decided.short && 'changes-long'}>{decided.text}</span>
              {decided.short && (
                <span class="changes-short" aria-hidden="true">
                  {decided.short}
                </span>
              )}
            </span>
          )}
          <DiffCounts added={file.added} removed={file.removed} />
        </span>
      </button>
      {file.status && (
        <>
          <IconButton
            icon="discard"
            label={t('Revert Changes in {0}', name)}
            onClick={() => decide('changes/undo')}
          />
          <IconButton
            icon="check"
            label={t('Keep Changes in {0}', name)}
            onClick={() => decide('changes/keep')}
          />
        </>
      )}
      {file.decided?.canUndo && (
        <IconButton
          icon="debug-restart"
          label={t('Undo Keep or Revert in {0}', name)}
          onClick={() => decide('changes/undecide')}
        />
      )}
    </li>
  )
}

function describeDecision({ outcome, kept, reverted, undecided }: NonNullable<ChangedFileNote['decided']>): {
  icon: string
  text: string
  /** a shorter text for a narrow side bar */
  short?: string
} {
  switch (outcome) {
    case 'kept':
      return { icon: 'check', text: t('Kept') }
    case 'reverted':
      return { icon: 'discard', text: t('Reverted') }
    case 'both':
      return { icon: 'check', text: t('{0} kept, {1} reverted', kept, reverted) }
    case 'some':
      return {
        icon: 'checklist',
        text: t('{0} of {1} decided', kept + reverted, kept + reverted + undecided),
        short: `${kept + reverted}/${kept + reverted + undecided}`,
      }
  }
}

function describeStatus(status: NonNullable<ChangedFileNote['status']>): { letter: string; word: string } {
  switch (status) {
    case 'added':
      return { letter: 'A', word: t('Added') }
    case 'deleted':
      return { letter: 'D', word: t('Deleted') }
    case 'renamed':
      return { letter: 'R', word: t('Renamed') }
    case 'modified':
      return { letter: 'M', word: t('Modified') }
  }
}
