import { type Signal, signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect } from 'preact/hooks'
import { Icon } from '../../ui/icon.tsx'
import { useApp } from '../context.ts'

interface BarLineProps {
  open: Signal<boolean>
  /** the name of a codicon */
  icon: string
  /** the title */
  children: ComponentChildren
  /** content at the end of the line */
  end?: ComponentChildren
}

/** The line of a bar above the composer, which expands and collapses its content. */
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
      <span class="line-title truncate">{children}</span>
      {end}
    </button>
  )
}

/** In a lower window, a request and the open bars leave no space for the conversation. CSS pixels. */
const LOW_WINDOW = 760

const low = signal(false)
const measure = () => {
  low.value = window.innerHeight < LOW_WINDOW
}
measure()
window.addEventListener('resize', measure)

/**
 * Returns whether a bar above the composer is open. In a low window, the bar closes by itself while a request is pending,
 * unless the user opens it then; after the request is answered, the previous state is restored.
 */
export function useBarOpen(): Signal<boolean> {
  const { store } = useApp()
  const wanted = useSignal(false)
  const anyway = useSignal(false)
  const givesWay = store.asked.value && low.value
  useLayoutEffect(() => {
    anyway.value = false
  }, [givesWay, anyway])
  return givesWay ? anyway : wanted
}
