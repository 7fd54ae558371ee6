import type { ComponentChildren } from 'preact'
import type { WorkId } from '../../../conversation/running-work.ts'
import { t } from '../../l10n.ts'
import { IconButton } from '../../ui/button.tsx'
import { lazyWithStyles } from '../../ui/lazy.tsx'
import { useApp } from '../context.ts'
import type { EntrySlot } from '../slot.ts'
import { loadEmulator, type TerminalSlot } from '../terminals.ts'

async function loadTerminals(): Promise<typeof import('./terminal-view.tsx')> {
  const [module] = await Promise.all([import('./terminal-view.tsx'), loadEmulator()])
  return module
}
export const TerminalView = lazyWithStyles(() => loadTerminals().then(module => module.TerminalView))
export const TerminalTail = lazyWithStyles(() => loadTerminals().then(module => module.TerminalTail))

interface WithCancelProps {
  /** absent if the work can't be stopped separately */
  work: WorkId | undefined
  label: string
  /** the button that hides the parts of the work */
  hide?: ComponentChildren
  children: ComponentChildren
}

/** Work in progress, with a button that stops only this work. */
export function WithCancel({ work, label, hide, children }: WithCancelProps) {
  const { host } = useApp()
  return (
    <div class={`with-cancel${hide ? ' hideable' : ''}`}>
      {children}
      {hide}
      {work && (
        <IconButton
          icon="debug-stop"
          label={label}
          class="cancel-work"
          onClick={() => host.send('conversation/cancelWork', { work })}
        />
      )}
    </div>
  )
}

interface HideWorkProps {
  /** a subagent, or a tool call with others that are part of it */
  slot: EntrySlot
  hideLabel: string
  showLabel: string
}

/** A button that hides the entries that are part of another entry's work, or shows them again. */
export function HideWork({ slot, hideLabel, showLabel }: HideWorkProps) {
  const { store, hideWork } = useApp()
  const hidden = store.expansion.isHidden(slot.work!)
  return (
    <IconButton
      icon={hidden ? 'unfold' : 'fold'}
      label={hidden ? showLabel : hideLabel}
      class={`hide-work${hidden ? ' hiding' : ''}`}
      onClick={() => hideWork(slot, !hidden)}
    />
  )
}

interface TerminalProps {
  terminal: TerminalSlot
  terminalId: string
}

/** A terminal, whose command can be stopped if the agent supports it. */
export function Terminal({ terminal, terminalId }: TerminalProps) {
  const state = terminal.state.value
  const work = state?.canCancel && !state.exit ? { terminalId } : undefined
  return (
    <WithCancel work={work} label={t('Stop Command')}>
      <TerminalView terminal={terminal} />
    </WithCancel>
  )
}
