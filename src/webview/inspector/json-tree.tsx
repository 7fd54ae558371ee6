import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { t } from '../l10n.ts'
import { Icon } from '../ui/icon.tsx'

/** Number of members of a value that are shown until the user asks for more. */
const MEMBERS = 100
/** Maximum number of rows that are shown at first; more values stay collapsed. */
const FIRST_ROWS = 40
/** Longer texts, and texts of several lines, are shown in part until the user expands them. Characters. */
const SHORT_TEXT = 120

/** A row for a value of the message, or for the note that a value has more members. */
interface TreeRow {
  /** identifies the value within the message */
  path: string
  /** the path of the value that contains it */
  parent: string | undefined
  depth: number
  /** absent for the message itself and for items of arrays */
  name: string
  value: unknown
  /** in a note: the number of further members */
  more?: number
}

interface JsonTreeProps {
  json: string
}

/** A JSON value as a tree, controlled by the arrow keys. */
export function JsonTree({ json }: JsonTreeProps) {
  const value = useMemo<unknown>(() => JSON.parse(json), [json])
  const [open, setOpen] = useState<ReadonlySet<string>>(() => firstOpen(value))
  const [shown, setShown] = useState<ReadonlyMap<string, number>>(new Map())
  const [active, setActive] = useState('')
  const tree = useRef<HTMLDivElement>(null)
  const rows = listRows(value, open, shown)
  const focus = (path: string | undefined) => {
    if (path === undefined) return
    setActive(path)
    tree.current?.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"]`)?.focus()
  }
  /** index of the activated note, where the first further member is shown; -1 for none */
  const revealed = useRef(-1)
  useLayoutEffect(() => {
    if (revealed.current < 0) return
    focus(rows[revealed.current]?.path)
    revealed.current = -1
  }, [shown])
  const toggle = (row: TreeRow) => {
    const { path, parent, more } = row
    if (more !== undefined && parent !== undefined) {
      revealed.current = rows.indexOf(row)
      setShown(new Map(shown).set(parent, (shown.get(parent) ?? MEMBERS) + MEMBERS * 10))
      return
    }
    const next = new Set(open)
    if (!next.delete(path)) next.add(path)
    setOpen(next)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return
    const index = Math.max(
      0,
      rows.findIndex(({ path }) => path === active),
    )
    const row = rows[index]
    if (!row) return
    const isOpen = open.has(row.path)
    const keys: Record<string, (() => void) | undefined> = {
      ArrowDown: () => focus(rows[index + 1]?.path),
      ArrowUp: () => focus(rows[index - 1]?.path),
      Home: () => focus(rows[0]?.path),
      End: () => focus(rows.at(-1)?.path),
      ArrowRight: () =>
        canOpen(row) && !isOpen ? toggle(row) : isOpen ? focus(rows[index + 1]?.path) : undefined,
      ArrowLeft: () => (isOpen ? toggle(row) : focus(row.parent)),
      Enter: () => canOpen(row) && toggle(row),
      ' ': () => canOpen(row) && toggle(row),
    }
    const act = keys[event.key]
    if (!act) return
    event.preventDefault()
    act()
  }
  const current = rows.some(({ path }) => path === active) ? active : ''
  return (
    <div ref={tree} class="json-tree" role="tree" aria-label={t('Message as JSON')} onKeyDown={onKeyDown}>
      {rows.map(row => (
        <Row
          key={row.path}
          row={row}
          isOpen={open.has(row.path)}
          isActive={row.path === current}
          onFocus={() => setActive(row.path)}
          onToggle={() => toggle(row)}
        />
      ))}
    </div>
  )
}

interface RowProps {
  row: TreeRow
  isOpen: boolean
  isActive: boolean
  onFocus: () => void
  onToggle: () => void
}

function Row({ row, isOpen, isActive, onFocus, onToggle }: RowProps) {
  const { depth, more, name, path, value } = row
  const opens = canOpen(row)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys
    <div
      class="json-row"
      role="treeitem"
      data-path={path}
      aria-level={depth + 1}
      aria-expanded={opens && more === undefined ? isOpen : undefined}
      aria-selected={isActive}
      tabIndex={isActive ? 0 : -1}
      style={{ paddingInlineStart: `${depth * 12}px` }}
      onFocus={onFocus}
      onClick={() => opens && !hasSelection() && onToggle()}
    >
      <Icon
        name={isOpen ? 'chevron-down' : 'chevron-right'}
        class={opens && more === undefined ? '' : 'invisible'}
      />
      {more === undefined ? (
        <span class="json-text">
          {name !== '' && <span class="json-name">{name}: </span>}
          <Value value={value} isOpen={isOpen} />
        </span>
      ) : (
        <span class="json-more">{t('Show more ({0})', more)}</span>
      )}
    </div>
  )
}

function Value({ value, isOpen }: { value: unknown; isOpen: boolean }) {
  if (typeof value === 'string') {
    if (isLong(value) && isOpen) return <span class="json-string json-whole">{value}</span>
    const short = isLong(value) ? `${value.slice(0, SHORT_TEXT)}…` : value
    return <span class="json-string">{JSON.stringify(short)}</span>
  }
  if (typeof value !== 'object' || value === null) return <span class="json-other">{String(value)}</span>
  const count = Object.keys(value).length
  const [start, end] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return (
    <span class="quiet">
      {isOpen || count === 0 ? `${start}${count === 0 ? end : ''}` : `${start}${count}${end}`}
    </span>
  )
}

/** Whether text is selected: a click that ends a selection expands nothing. */
function hasSelection(): boolean {
  return document.getSelection()?.isCollapsed === false
}

function isLong(text: string): boolean {
  return text.length > SHORT_TEXT || text.includes('\n')
}

function canOpen({ more, value }: TreeRow): boolean {
  if (more !== undefined) return true
  if (typeof value === 'string') return isLong(value)
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

function listMembers(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

function listRows(
  message: unknown,
  open: ReadonlySet<string>,
  shown: ReadonlyMap<string, number>,
): TreeRow[] {
  const rows: TreeRow[] = []
  const add = (row: TreeRow) => {
    rows.push(row)
    if (!open.has(row.path)) return
    const members = listMembers(row.value)
    const most = shown.get(row.path) ?? MEMBERS
    const { path: parent, depth } = row
    for (const [name, value] of members.slice(0, most))
      add({ path: memberPath(parent, name), parent, depth: depth + 1, name, value })
    if (members.length > most) {
      const more = members.length - most
      // unlike any member's path, which has JSON after the slash
      rows.push({ path: `${parent}/`, parent, depth: depth + 1, name: '', value: undefined, more })
    }
  }
  add({ path: '', parent: undefined, depth: 0, name: '', value: message })
  return rows
}

/** Returns the path of a member, with its name as JSON, since the name may contain any character. */
function memberPath(parent: string, name: string): string {
  return `${parent}/${JSON.stringify(name)}`
}

/** Returns the values that are expanded at first: level by level, up to {@link FIRST_ROWS}. */
function firstOpen(message: unknown): Set<string> {
  const open = new Set<string>()
  let rows = 1
  let level: [path: string, value: unknown][] = [['', message]]
  while (level.length > 0) {
    const next: typeof level = []
    for (const [path, value] of level) {
      const members = listMembers(value)
      if (members.length === 0 || rows + members.length > FIRST_ROWS) continue
      rows += members.length
      open.add(path)
      for (const [name, member] of members) next.push([memberPath(path, name), member])
    }
    level = next
  }
  return open
}
