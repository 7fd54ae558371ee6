import { useLayoutEffect, useRef } from 'preact/hooks'
import type { MentionRow } from '../../../bridge/conversation.ts'
import { t } from '../../l10n.ts'
import { Icon } from '../../ui/icon.tsx'
import type { CommandRow } from './completion.ts'
import { commandListId, commandRowId, mentionListId, mentionRowId } from './completion-ids.ts'
import { nameCut } from './input/mentions.ts'
import type { FoundMentions } from './use-mentions.ts'

interface CommandListProps {
  commands: readonly CommandRow[]
  active: number
  onChoose: (command: CommandRow) => void
  onPoint: (index: number) => void
}

/** The agent's commands and prompt files, shown above the composer while the user types a command. The composer keeps the focus. */
export function CommandList({ commands, active, onChoose, onPoint }: CommandListProps) {
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    fitList(list.current)
  }, [active, commands])
  return (
    <div ref={list} id={commandListId} class="completion" role="listbox" aria-label={t('Commands')}>
      {commands.map((command, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the composer handles the keys
        <div
          key={`${command.source}/${command.name}`}
          id={commandRowId(i)}
          class="menu-row"
          role="option"
          tabIndex={-1}
          aria-selected={i === active}
          data-active={i === active ? '' : undefined}
          title={command.detail}
          onPointerMove={() => i !== active && onPoint(i)}
          onPointerDown={event => event.preventDefault()}
          onClick={() => onChoose(command)}
        >
          <span class="menu-text">
            <span class="menu-name truncate">
              /{command.name}
              {command.hint && <span class="command-hint"> {command.hint}</span>}
            </span>
            {command.description && <span class="menu-description">{command.description}</span>}
          </span>
          {command.source && <span class="command-source truncate">{command.source}</span>}
        </div>
      ))}
    </div>
  )
}

interface MentionListProps {
  found: FoundMentions
  query: string
  active: number
  onChoose: (row: MentionRow) => void
  onPoint: (index: number) => void
}

/** The suggestions for `@`, shown above the composer while a query is being typed. The composer keeps the focus. */
export function MentionList({ found, query, active, onChoose, onPoint }: MentionListProps) {
  const list = useRef<HTMLDivElement>(null)
  const { rows, searching } = found
  useLayoutEffect(() => {
    fitList(list.current)
  }, [active, rows])
  return (
    <div ref={list} id={mentionListId} class="completion mentions" role="listbox" aria-label={t('Context')}>
      {rows.map((row, i) => (
        <Row
          key={`${row.group}/${row.name}/${'session' in row.attaches ? row.attaches.session.sessionId : row.detail}`}
          row={row}
          index={i}
          heading={row.group === rows[i - 1]?.group ? undefined : row.group}
          active={i === active}
          onChoose={onChoose}
          onPoint={onPoint}
        />
      ))}
      {rows.length > 0 && (query === '' || query === '#') && (
        <div class="menu-empty" role="presentation">
          {query === '#'
            ? t('Symbols of the active file. Type to search the workspace')
            : t('Type to search. # searches only symbols')}
        </div>
      )}
      {rows.length === 0 && (
        <div class="menu-empty" role="option" aria-disabled="true" aria-selected={false} tabIndex={-1}>
          {searching
            ? t('Searching…')
            : query.startsWith('#') && query.length <= 2
              ? t('Type a symbol name')
              : t('Nothing matches “{0}”', query)}
        </div>
      )}
    </div>
  )
}

interface RowProps {
  row: MentionRow
  index: number
  heading: MentionRow['group'] | undefined
  active: boolean
  onChoose: (row: MentionRow) => void
  onPoint: (index: number) => void
}

function Row({ row, index, heading, active, onChoose, onPoint }: RowProps) {
  return (
    <>
      {heading !== undefined && (
        <div class="menu-group" role="presentation">
          {headings()[heading]}
        </div>
      )}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the composer handles the keys */}
      <div
        id={mentionRowId(index)}
        class="menu-row mention-row"
        role="option"
        tabIndex={-1}
        aria-selected={active}
        data-active={active ? '' : undefined}
        title={row.group === 'sessions' ? `${row.name}\n${row.detail}` : row.detail}
        onPointerMove={() => !active && onPoint(index)}
        onPointerDown={event => event.preventDefault()}
        onClick={() => onChoose(row)}
      >
        <Icon name={row.icon} />
        <Name
          text={row.name}
          matches={row.matches}
          isSentence={row.group === 'git' || row.group === 'sessions'}
        />
        {row.detail && <Detail text={row.detail} matches={row.detailMatches ?? []} name={row.name} />}
      </div>
    </>
  )
}

function headings(): Record<MentionRow['group'], string> {
  return {
    open: t('Open editors'),
    recent: t('Recent files'),
    context: t('Context'),
    files: t('Files and folders'),
    git: t('Commits and branches'),
    sessions: t('Sessions'),
    symbols: t('Symbols'),
  }
}

interface NameProps {
  text: string
  matches: readonly number[]
  /** whether the name is a sentence, whose start is more important than its end */
  isSentence: boolean
}

function Name({ text, matches, isSentence }: NameProps) {
  const cut = isSentence ? text.length : nameCut(text)
  if (cut === text.length)
    return (
      <span class="mention-name truncate" dir="auto">
        <Marked text={text} matches={matches} />
      </span>
    )
  return (
    <span class="mention-name truncate cut">
      <span class="cut-start">
        <Marked text={text.slice(0, cut)} matches={matches.filter(i => i < cut)} />
      </span>
      <span class="cut-end">
        <Marked text={text.slice(cut)} matches={matches.filter(i => i >= cut).map(i => i - cut)} />
      </span>
    </span>
  )
}

/** The location of a file. A path that is too long is shortened in the middle, since its start and last folder matter most. */
function Detail({ text, matches, name }: { text: string; matches: readonly number[]; name: string }) {
  const folder = text.endsWith(`/${name}`) ? text.slice(0, -name.length - 1) : text
  if (folder === name) return null
  const cut = folder.lastIndexOf('/')
  const shift = matches.filter(i => i < folder.length)
  if (cut <= 0) return <span class="mention-detail truncate">{<Marked text={folder} matches={shift} />}</span>
  return (
    <span class="mention-detail truncate mention-path">
      <span class="mention-path-start">
        <Marked text={folder.slice(0, cut)} matches={shift.filter(i => i < cut)} />
      </span>
      <span class="mention-path-end">
        <Marked text={folder.slice(cut)} matches={shift.filter(i => i >= cut).map(i => i - cut)} />
      </span>
    </span>
  )
}

/** A text with its matching letters highlighted; adjacent letters are in one element. */
function Marked({ text, matches }: { text: string; matches: readonly number[] }) {
  if (matches.length === 0) return <>{text}</>
  const hit = new Set(matches)
  const parts: Array<{ text: string; hit: boolean }> = []
  for (let i = 0; i < text.length; i++) {
    const last = parts.at(-1)
    if (last && last.hit === hit.has(i)) last.text += text[i]
    else parts.push({ text: text[i]!, hit: hit.has(i) })
  }
  return <>{parts.map((part, i) => (part.hit ? <mark key={i}>{part.text}</mark> : part.text))}</>
}

/** Limits the list's height to the available space, and keeps the selected row visible. */
function fitList(list: HTMLElement | null): void {
  if (!list) return
  const room = list.offsetParent?.getBoundingClientRect().top
  if (room !== undefined) list.style.setProperty('--room', `${Math.floor(room)}px`)
  list.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest' })
}
