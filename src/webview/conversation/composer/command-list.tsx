import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Command } from '../../../acp/model.ts'
import { t } from '../../l10n.ts'
import { fitList } from './fit-list.ts'

interface CommandListProps {
  commands: readonly Command[]
  active: number
  onChoose: (command: Command) => void
  onPoint: (index: number) => void
}

export const commandListId = 'command-list'

export function commandRowId(index: number): string {
  return `command-${index}`
}

/** The agent's commands, above the composer while one is typed. The composer keeps the focus. */
export function CommandList({ commands, active, onChoose, onPoint }: CommandListProps) {
  const list = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    fitList(list.current)
  }, [active, commands])
  return (
    <div ref={list} id={commandListId} class="completion" role="listbox" aria-label={t('Commands')}>
      {commands.map((command, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the composer hears the keys
        <div
          key={command.name}
          id={commandRowId(i)}
          class="menu-row"
          role="option"
          tabIndex={-1}
          aria-selected={i === active}
          data-active={i === active ? '' : undefined}
          onPointerMove={() => i !== active && onPoint(i)}
          onPointerDown={event => event.preventDefault()}
          onClick={() => onChoose(command)}
        >
          <span class="menu-text">
            <span class="menu-name">
              /{command.name}
              {command.hint && <span class="command-hint"> {command.hint}</span>}
            </span>
            {command.description && <span class="menu-description">{command.description}</span>}
          </span>
        </div>
      ))}
    </div>
  )
}
