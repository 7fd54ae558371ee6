import type { Signal } from '@preact/signals'
import { useCallback, useRef, useState } from 'preact/hooks'
import type { HistoryRow } from '../../bridge/history.ts'
import { newestFirst } from '../../common/date-groups.ts'
import { fold, valuesIn, withFilter } from '../../common/search-query.ts'
import { needsAnswerText } from '../../conversation/requests/pending-text.ts'
import { t } from '../l10n.ts'
import { IconButton } from '../ui/button.tsx'
import { Menu, type MenuChoice } from '../ui/menu.tsx'
import { type HistoryFilter, type HistoryLines, isIn, SESSION_STATES } from './items.ts'

interface FilterButtonProps {
  filter: Signal<HistoryFilter>
  lines: HistoryLines
  onSearch: (text: string) => void
}

/** The filters that the menu writes into the search text. */
const MENU_FILTERS = ['agent', 'folder', 'is', 'after', 'before']

/** States of which a session has at most one. */
const WORK_STATES = new Set(['running', 'waiting', 'done', 'failed', 'interrupted'])

/** A button with a menu of filters, which are written into the search text, and of groupings. */
export function FilterButton({ filter, lines, onSearch }: FilterButtonProps) {
  const anchor = useRef<HTMLButtonElement>(null)
  const [choices, setChoices] = useState<MenuChoice[]>()
  const close = useCallback(() => setChoices(undefined), [])
  const { text, group } = filter.value
  const isActive = group !== undefined || MENU_FILTERS.some(name => valuesIn(text, name).length > 0)
  const choose = (chosen: string) => {
    const [name = '', value] = split(chosen)
    if (name === 'group') {
      filter.value = { ...filter.value, group: value === 'agent' || value === 'folder' ? value : undefined }
      return
    }
    if (name === 'none') {
      filter.value = { ...filter.value, group: undefined }
      onSearch(MENU_FILTERS.reduce((rest, each) => withFilter(rest, each, undefined), text))
      return
    }
    const isSet = choices?.some(({ value, checked }) => value === chosen && checked)
    if (isSet) onSearch(withFilter(text, name, undefined, one => one === fold(value ?? '')))
    else onSearch(withFilter(text, name, value, one => name !== 'is' || replacesState(one, value)))
  }
  return (
    <>
      <IconButton
        buttonRef={anchor}
        icon={isActive ? 'filter-filled' : 'filter'}
        label={isActive ? t('Filter and Group (active)') : t('Filter and Group')}
        class={isActive ? 'pressed' : ''}
        expanded={choices !== undefined}
        onClick={() => setChoices(choices ? undefined : listChoices([...lines.all], filter.value, isActive))}
      />
      {choices && (
        <Menu
          anchor={anchor}
          label={t('Filter and Group')}
          choices={choices}
          onChoose={choose}
          onClose={close}
        />
      )}
    </>
  )
}

/** Returns the menu's choices: only agents, folders and states that some session has, and the active filters. */
function listChoices(
  rows: HistoryRow[],
  { text, group: by }: HistoryFilter,
  isActive: boolean,
): MenuChoice[] {
  const agents = new Set<string>()
  const folders = new Map<string, string>()
  for (const { agentName, cwd, folder } of rows.sort(newestFirst)) {
    agents.add(agentName)
    folders.set(cwd, folder)
  }
  const filters = (group: string, name: string, all: Array<Omit<MenuChoice, 'group'>>): MenuChoice[] => {
    const current = valuesIn(text, name)
    const choice = (one: Omit<MenuChoice, 'group'>) => ({
      ...one,
      value: `${name} ${one.value}`,
      group,
      checked: current.includes(fold(one.value)),
    })
    return all.map(choice)
  }
  const states = SESSION_STATES.filter(
    state => valuesIn(text, 'is').includes(state) || rows.some(row => isIn(state, row)),
  )
  const several = <T,>(all: T[]) => (all.length > 1 ? all : [])
  return [
    ...(isActive ? [{ value: 'none', name: t('Reset Filters and Grouping') }] : []),
    ...filters(
      t('State'),
      'is',
      states.map(value => ({ value, name: stateName(value) })),
    ),
    ...filters(t('Last Used'), 'after', [
      { value: 'today', name: t('Today') },
      { value: '7d', name: t('Last 7 Days') },
      { value: '30d', name: t('Last 30 Days') },
      { value: '1y', name: t('Last 12 Months') },
    ]),
    ...filters(t('Agent'), 'agent', several([...agents].map(value => ({ value, name: value })))),
    ...(['date', 'agent', 'folder'] as const).map(value => ({
      value: `group ${value}`,
      name: { date: t('Date'), agent: t('Agent'), folder: t('Folder') }[value],
      group: t('Group By'),
      checked: value === (by ?? 'date'),
    })),
    ...filters(
      t('Folder'),
      'folder',
      several([...folders].map(([value, name]) => ({ value, name, description: value }))),
    ),
  ]
}

/** Whether a state replaces another in the search text. States such as `pinned` are combined with others instead. */
function replacesState(state: string, by = ''): boolean {
  return state === by || (WORK_STATES.has(state) && WORK_STATES.has(by))
}

function split(value: string): [string, string | undefined] {
  const space = value.indexOf(' ')
  return space < 0 ? [value, undefined] : [value.slice(0, space), value.slice(space + 1)]
}

function stateName(state: (typeof SESSION_STATES)[number]): string {
  switch (state) {
    case 'running':
      return t('Running')
    case 'waiting':
      return needsAnswerText(t)
    case 'done':
      return t('Done')
    case 'failed':
      return t('Failed')
    case 'interrupted':
      return t('Interrupted')
    case 'open':
      return t('Currently Open')
    case 'pinned':
      return t('Pinned')
    case 'archived':
      return t('Archived')
    case 'unlisted':
      return t('Not listed by its agent')
  }
}
