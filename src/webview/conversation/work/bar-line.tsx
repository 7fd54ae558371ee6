import type { Signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Icon } from '../../ui/icon.tsx'

interface BarLineProps {
  open: Signal<boolean>
  /** codicon */
  icon: string
  /** the title */
  children: ComponentChildren
  /** what stands at the end of the line */
  end?: ComponentChildren
}

/** The line of a bar above the composer: it opens and closes what is under it. */
export function BarLine({ open, icon, children, end }: BarLineProps) {
  return (
    <button
      type="button"
      class="line bar-line"
      aria-expanded={open.value}
      onClick={() => {
        open.value = !open.value
      }}
    >
      <Icon name={icon} class="line-icon" />
      <span class="line-title">{children}</span>
      {end}
    </button>
  )
}
