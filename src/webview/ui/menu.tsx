import type { ComponentChildren, RefObject, VNode } from 'preact'
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { t } from '../l10n.ts'
import { AgentIcon, Icon } from './icon.tsx'
import { Popup } from './popup.tsx'

interface MenuProps {
  anchor: RefObject<HTMLElement | null>
  label: string
  class?: string
  choices: readonly MenuChoice[]
  /** the current value */
  current?: string
  /** values that are marked with a star; absent if values can't be marked */
  starred?: ReadonlySet<string>
  onStar?: (value: string) => void
  /** another choice that is always shown at the end */
  last?: MenuChoice
  onChoose: (value: string) => void
  onClose: () => void
}

/** With more choices than this, there's a search field. */
const MAX_WITHOUT_SEARCH = 10
/** Number of rows that Page Up and Page Down move. */
const PAGE_ROWS = 8
/** Maximum number of rows; users can search for others. */
const MAX_ROWS = 500

/**
 * A dropdown list, controlled by the arrow keys, Home, End, typing, Enter and Escape. Long lists can be searched and are
 * rendered in part.
 */
export function Menu({
  anchor,
  label,
  class: className,
  choices,
  current,
  starred,
  onStar,
  last: extra,
  onChoose,
  onClose,
}: MenuProps) {
  const [query, setQuery] = useState('')
  const matches = useMemo(() => matchChoices(choices, query), [choices, query])
  /** the choice that the user moved to; it stays active when choices are added or moved */
  const [picked, setPicked] = useState<MenuChoice>()
  const shown = [...matches.slice(0, MAX_ROWS), ...(extra ? [extra] : [])]
  const found = indexOf(shown, picked, query === '' ? current : undefined)
  // Enter chooses what the user searched for
  const active = found < 0 && matches.length === 0 ? -1 : Math.max(0, found)
  const setActive = (index: number) => setPicked(shown[index])
  const list = useRef<HTMLDivElement>(null)
  const input = useRef<HTMLInputElement>(null)
  const searchable = choices.length > MAX_WITHOUT_SEARCH

  const close = useCallback(() => {
    onClose()
    anchor.current?.focus()
  }, [onClose, anchor])

  useLayoutEffect(() => {
    const target = searchable ? input.current : list.current
    target?.focus({ preventScroll: true })
  }, [searchable])
  // scroll the active row into view after it changed
  useLayoutEffect(() => {
    list.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest' })
  }, [active, query])

  const choose = (choice: MenuChoice | undefined) => {
    if (!choice) return
    close()
    if (choice.value !== current) onChoose(choice.value)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return
    if (event.key.toLowerCase() === 'd' && (event.ctrlKey || event.metaKey) && starred) {
      event.preventDefault()
      event.stopPropagation()
      const marked = shown[active]
      if (marked && marked !== extra) onStar?.(marked.value)
    } else if (event.key === 'Enter' || (event.key === ' ' && !searchable)) {
      event.preventDefault()
      choose(shown[active])
    } else if (event.key === 'Tab') {
      event.preventDefault()
      close()
    } else {
      const to = rowAfter(event, shown, active, searchable)
      if (to === undefined) return
      event.preventDefault()
      setActive(to)
    }
  }
  const activeId = shown[active] ? `menu-${active}` : undefined
  const row = (choice: MenuChoice, index: number) => (
    <MenuRow
      key={choiceKey(choice)}
      id={`menu-${index}`}
      choice={choice}
      active={index === active}
      chosen={choice.checked ?? (choice !== extra && choice.value === current)}
      star={choice === extra ? undefined : starred?.has(choice.value)}
      onStar={() => onStar?.(choice.value)}
      onPoint={() => index !== active && setActive(index)}
      onChoose={() => choose(choice)}
    />
  )

  return (
    <Popup anchor={anchor} onClose={close} class={className ? `menu ${className}` : 'menu'} label={label}>
      {searchable && (
        <MenuSearch
          input={input}
          label={label}
          query={query}
          activeId={activeId}
          onQuery={value => {
            setQuery(value)
            setPicked(undefined)
          }}
          onKeyDown={onKeyDown}
        />
      )}
      <div
        ref={list}
        id="menu-list"
        class="menu-list"
        role="listbox"
        aria-label={label}
        aria-multiselectable={choices.some(({ checked }) => checked !== undefined) || undefined}
        aria-activedescendant={activeId}
        tabIndex={searchable ? -1 : 0}
        onKeyDown={searchable ? undefined : onKeyDown}
      >
        <MenuGroups choices={matches.slice(0, MAX_ROWS)} row={row} />
        {matches.length === 0 && query !== '' && <div class="menu-empty">{t('No matches')}</div>}
        {matches.length > MAX_ROWS && (
          <div class="menu-empty">{t('{0} more. Type to narrow the list.', matches.length - MAX_ROWS)}</div>
        )}
        {extra && <div class="menu-last">{row(extra, shown.length - 1)}</div>}
      </div>
    </Popup>
  )
}

interface MenuSearchProps {
  input: RefObject<HTMLInputElement | null>
  label: string
  query: string
  /** the id of the active row */
  activeId: string | undefined
  onQuery: (query: string) => void
  onKeyDown: (event: KeyboardEvent) => void
}

function MenuSearch({ input, label, query, activeId, onQuery, onKeyDown }: MenuSearchProps) {
  return (
    <div class="menu-search">
      <Icon name="search" />
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="menu-list"
        aria-activedescendant={activeId}
        aria-label={label}
        placeholder={t('Search')}
        value={query}
        spellcheck={false}
        onInput={event => onQuery(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
    </div>
  )
}

interface MenuGroupsProps {
  choices: readonly MenuChoice[]
  row: (choice: MenuChoice, index: number) => VNode
}

/** The choices, with the name of their group above consecutive choices of the same group. */
function MenuGroups({ choices: all, row }: MenuGroupsProps) {
  return (
    <>
      {groupChoices(all).map(({ name, from, choices }) => {
        const rows = choices.map((choice, at) => row(choice, from + at))
        if (name === undefined) return rows
        return (
          // biome-ignore lint/a11y/useSemanticElements: a list of options has no fieldsets
          <div key={`${name}/${from}`} role="group" aria-label={name}>
            <div class="menu-group" aria-hidden="true">
              {name}
            </div>
            {rows}
          </div>
        )
      })}
    </>
  )
}

interface MenuRowProps {
  id: string
  choice: MenuChoice
  active: boolean
  chosen: boolean
  /** whether the choice is marked with a star; absent if it can't be marked */
  star: boolean | undefined
  onStar: () => void
  onPoint: () => void
  onChoose: () => void
}

function MenuRow({ id, choice, active, chosen, star, onStar, onPoint, onChoose }: MenuRowProps) {
  return (
    <>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys */}
      <div
        id={id}
        class="menu-row"
        role="option"
        tabIndex={-1}
        aria-selected={chosen}
        data-active={active ? '' : undefined}
        title={choice.description}
        onPointerMove={onPoint}
        onClick={onChoose}
      >
        {choice.content ?? <MenuText choice={choice} chosen={chosen} />}
        {star !== undefined && (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list has a key for it
          <span
            class={`menu-star${star ? ' on' : ''}`}
            role="img"
            aria-label={star ? t('Favorite') : undefined}
            title={star ? t('Remove from Favorites (Ctrl+D)') : t('Add to Favorites (Ctrl+D)')}
            onClick={event => {
              event.stopPropagation()
              onStar()
            }}
          >
            <Icon name={star ? 'star-full' : 'star-empty'} />
          </span>
        )}
      </div>
    </>
  )
}

/** Groups consecutive choices with the same group name. */
function groupChoices(
  all: readonly MenuChoice[],
): Array<{ name: string | undefined; from: number; choices: MenuChoice[] }> {
  const groups: ReturnType<typeof groupChoices> = []
  for (const [i, choice] of all.entries()) {
    const last = groups.at(-1)
    if (last && last.name === choice.group) last.choices.push(choice)
    else groups.push({ name: choice.group, from: i, choices: [choice] })
  }
  return groups
}

function MenuText({ choice, chosen }: Pick<MenuRowProps, 'choice' | 'chosen'>) {
  return (
    <>
      {choice.icon ? (
        <AgentIcon icon={choice.icon} />
      ) : (
        <Icon name="check" class={chosen ? 'menu-check' : 'menu-check invisible'} />
      )}
      <span class="menu-text">
        <span class="menu-name truncate">{choice.name}</span>
        {choice.description && <span class="menu-description">{choice.description}</span>}
      </span>
    </>
  )
}

function choiceKey({ again, group, value }: MenuChoice): string {
  return `${again ? group : ''}/${value}`
}

/** Returns the index of the picked choice, or of another choice with the same value; -1 if there is none. */
function indexOf(
  choices: readonly MenuChoice[],
  picked: MenuChoice | undefined,
  current: string | undefined,
): number {
  const same = picked ? choices.findIndex(choice => choiceKey(choice) === choiceKey(picked)) : -1
  const value = picked ? picked.value : current
  return same >= 0 ? same : choices.findIndex(choice => choice.value === value)
}

/** Returns the row that a key (an arrow key or, without a search field, a letter) makes active instead of `active`. */
export function rowAfter(
  event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>,
  choices: readonly MenuChoice[],
  active: number,
  searchable: boolean,
): number | undefined {
  const last = choices.length - 1
  const within = (index: number) => Math.max(0, Math.min(last, index))
  switch (event.key) {
    case 'ArrowDown':
      return active >= last ? 0 : active + 1
    case 'ArrowUp':
      return active <= 0 ? within(last) : active - 1
    case 'PageDown':
      return within(active + PAGE_ROWS)
    case 'PageUp':
      return within(active - PAGE_ROWS)
  }
  if (searchable) return undefined
  if (event.key === 'Home') return 0
  if (event.key === 'End') return within(last)
  if (event.key.length > 1 || event.ctrlKey || event.metaKey || event.altKey) return undefined
  const letter = event.key.toLocaleLowerCase()
  for (let i = 1; i <= choices.length; i++) {
    const index = (active + i) % choices.length
    if (choices[index]!.name.toLocaleLowerCase().startsWith(letter)) return index
  }
  return undefined
}

export interface MenuChoice {
  value: string
  name: string
  description?: string
  group?: string
  /** shows a check mark, whatever the current value is; several choices can have one */
  checked?: boolean
  /** an icon as for `AgentIcon`, shown instead of the check mark */
  icon?: string
  /** replaces the icon, the name and the description */
  content?: ComponentChildren
  /** whether it's a second copy of a choice further down in the list, which search ignores */
  again?: boolean
}

/** Returns the choices that contain every word of the query, first the choices whose name starts with the query. */
export function matchChoices(choices: readonly MenuChoice[], query: string): readonly MenuChoice[] {
  const words = query.toLocaleLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return choices
  const scored = choices.flatMap((choice, order) => {
    if (choice.again) return []
    const name = choice.name.toLocaleLowerCase()
    const text = `${name} ${choice.value.toLocaleLowerCase()} ${choice.group?.toLocaleLowerCase() ?? ''}`
    if (!words.every(word => text.includes(word))) return []
    return [{ choice, order, score: name.startsWith(words[0]!) ? 0 : name.includes(words[0]!) ? 1 : 2 }]
  })
  return scored.sort((a, b) => a.score - b.score || a.order - b.order).map(match => match.choice)
}
